// SPDX-License-Identifier: Apache-2.0

/// The interface `org.posthorn.Agent1`, which deploy/dbus/org.posthorn.Agent1.xml describes.
package enum AgentInterface {
    /// The bus name, which is also the name of the interface.
    package static let name = "org.posthorn.Agent1"
    /// The path of the object.
    package static let path = "/org/posthorn/Agent1"
}

/// A method of `org.posthorn.Agent1`.
package enum AgentMethod: String, CaseIterable, Sendable {
    case enrol = "Enrol"
    case unenrol = "Unenrol"
    case forget = "Forget"
    case listAuthorities = "ListAuthorities"
    case trust = "Trust"
    case getStatus = "GetStatus"
    case getBadges = "GetBadges"
    case register = "Register"
    case unregister = "Unregister"
    case subscribe = "Subscribe"
    case unsubscribe = "Unsubscribe"
    case listApps = "ListApps"
    case listSettings = "ListSettings"
    case getSetting = "GetSetting"
    case setSetting = "SetSetting"
    case listSounds = "ListSounds"
    case installSound = "InstallSound"
    case removeSound = "RemoveSound"
    case playSound = "PlaySound"
    case listInbox = "ListInbox"
    case searchInbox = "SearchInbox"
    case findInbox = "FindInbox"
    case countInbox = "CountInbox"
    case markRead = "MarkRead"
    case markEntriesRead = "MarkEntriesRead"
    case removeInboxEntry = "RemoveInboxEntry"
    case removeInboxEntries = "RemoveInboxEntries"
    case getInboxEntry = "GetInboxEntry"
    case clearInbox = "ClearInbox"
    case remindEntry = "RemindEntry"
    case listAlerts = "ListAlerts"
    case answerAlert = "AnswerAlert"
    case openEntry = "OpenEntry"
    case openApp = "OpenApp"
}

/// A signal of `org.posthorn.Agent1`.
package enum AgentSignal: String, CaseIterable, Sendable {
    case tokenChanged = "TokenChanged"
    case badgeChanged = "BadgeChanged"
    case settingsChanged = "SettingsChanged"
    case subscriptionEnded = "SubscriptionEnded"
    case notificationArrived = "NotificationArrived"
    case inboxChanged = "InboxChanged"
    case alertsChanged = "AlertsChanged"
    case statusChanged = "StatusChanged"
}
