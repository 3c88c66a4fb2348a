// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore
package import PushSQL

/// The effective settings: a locked policy, or else the user's choice, or else the policy, or else the default.
package final class SettingStore {
    /// The app or event type that a setting applies to.
    package struct Target: Sendable, Equatable {
        /// The app; nil for the whole device.
        package var appID: AppID?
        /// The topic, by which policies identify the app; nil for the whole device.
        package var topic: TopicName?
        /// The event type; empty for the app as a whole.
        package var event: String

        package init(appID: AppID? = nil, topic: TopicName? = nil, event: String = "") {
            self.appID = appID
            self.topic = topic
            self.event = event
        }

        /// The target of the settings for the whole device.
        package static let device = Target()

        /// Returns the target of an app as a whole.
        package static func app(_ app: RegisteredApp) -> Target { Target(appID: app.appID, topic: app.topic) }

        /// The scope of the target.
        package var scope: Setting.Scope { appID == nil ? .device : event.isEmpty ? .app : .event }
    }

    /// A value with its origin.
    package struct Value: Sendable, Equatable {
        /// The effective value.
        package var text: String
        /// Whether the user may not change it.
        package var isLocked: Bool
        /// The party that set it.
        package var origin = Origin.builtIn

        /// Returns the value for display: an end that has passed is shown as `off`.
        package func shown(of setting: Setting, now: Timestamp) -> Value {
            guard setting == .muted, let mute = DoNotDisturb(text) else { return self }
            var shown = self
            shown.text = mute.current(at: now).text
            return shown
        }
    }

    /// The parties that can set a value.
    package enum Origin: String, Sendable, CaseIterable {
        case builtIn = "standard"
        case user = "person"
        case administrator
    }

    private let choices: ChoiceTable
    private let policy: LocalPolicyTable

    init(_ choices: ChoiceTable, _ policy: LocalPolicyTable) {
        self.choices = choices
        self.policy = policy
    }

    /// Returns the effective value of a setting.
    package func value(of setting: Setting, at target: Target) throws(SQLError) -> Value {
        let rule = target.event.isEmpty ? try policy.rule(for: setting, topic: target.topic) : nil
        if let rule, rule.isLocked { return Value(text: rule.value, isLocked: true, origin: .administrator) }
        if let chosen = try choices.value(of: setting, appID: target.appID, event: target.event) {
            return Value(text: chosen, isLocked: false, origin: .user)
        }
        if let rule { return Value(text: rule.value, isLocked: false, origin: .administrator) }
        return Value(text: setting.defaultValue(for: target.scope), isLocked: false)
    }

    /// Returns whether a setting is on.
    package func isOn(_ setting: Setting, at target: Target = .device) throws(SQLError) -> Bool {
        try value(of: setting, at: target).text.utf8.elementsEqual("on".utf8)
    }

    /// Stores or deletes the user's choice, and the style of alerts that this turns off; must be called inside a
    /// transaction.
    package func choose(_ value: String?, for setting: Setting, at target: Target) throws(SQLError) {
        let before = try style(setting, at: target)
        try choices.set(value, for: setting, appID: target.appID, event: target.event)
        guard let before, before != .none, try style(setting, at: target) == AlertStyle.none else { return }
        try choices.setEarlierStyle(before, appID: target.appID)
    }

    /// Returns the effective alert style; nil for settings without one.
    private func style(_ setting: Setting, at target: Target) throws(SQLError) -> AlertStyle? {
        guard setting == .alert, target.scope == .app else { return nil }
        return AlertStyle(try value(of: setting, at: target).text)
    }

    /// Returns the alert style after a switch to "on": the present or the previous style, or else the default.
    package func styleWhenOn(at target: Target) throws(SQLError) -> AlertStyle {
        let style = try style(.alert, at: target) ?? .none
        if style != .none { return style }
        return try choices.earlierStyle(appID: target.appID) ?? .standard
    }

    /// Returns the effective settings of an app.
    package func settings(of app: RegisteredApp) throws(SQLError) -> AppSettings {
        let target = Target.app(app)
        var settings = AppSettings()
        settings.allowsBadge = try isOn(.badge, at: target)
        settings.allowsSound = try isOn(.sound, at: target)
        settings.alertStyle = AlertStyle(try value(of: .alert, at: target).text) ?? .none
        settings.sound = SoundChoice(try value(of: .soundName, at: target).text) ?? .asSent
        settings.showsPreview = try isOn(.preview, at: target)
        settings.allowsTimeSensitive = try isOn(.timeSensitive, at: target)
        settings.allowsCritical = try isOn(.critical, at: target)
        settings.mute = DoNotDisturb(try value(of: .muted, at: target).text) ?? .off
        settings.allowsPictures = try isOn(.pictures, at: target)
        return settings
    }

    /// Returns the settings of an app as a whole that the user may not change.
    package func lockedSettings(of app: RegisteredApp) throws(SQLError) -> [Setting] {
        let target = Target.app(app)
        var locked: [Setting] = []
        for setting in Setting.allCases where setting.scopes.contains(.app) {
            if try value(of: setting, at: target).isLocked { locked.append(setting) }
        }
        return locked
    }

    /// Returns the settings that held back a notification of an app, and that the user may choose but has not chosen
    /// yet.
    package func offers(to app: RegisteredApp) throws(SQLError) -> [Setting] {
        guard app.heldBackEntry != nil else { return [] }
        let value = try value(of: .timeSensitive, at: .app(app))
        let isOpen = value.origin != .user && !value.isLocked && !value.text.utf8.elementsEqual("on".utf8)
        return isOpen ? [.timeSensitive] : []
    }

    /// Returns the effective switches of an app's event type.
    package func switches(of event: String, of app: RegisteredApp) throws(SQLError) -> EventSwitches {
        let target = Target(appID: app.appID, topic: app.topic, event: event)
        return EventSwitches(
            allowsBadge: try isOn(.badge, at: target), allowsSound: try isOn(.sound, at: target),
            allowsAlert: try isOn(.alert, at: target))
    }

    /// Returns the settings and states that apply to all apps.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - desktopState: The state of the desktop.
    /// - Returns: The context.
    /// - Throws: `SQLError` if a setting cannot be read.
    package func presentationContext(now: Timestamp, desktopState: DesktopState) throws(SQLError)
        -> PresentationContext
    {
        let manual = DoNotDisturb(try value(of: .doNotDisturb, at: .device).text)
        let schedule = QuietSchedule(try value(of: .schedule, at: .device).text)
        let isScheduled = schedule?.contains(LocalClock.time(at: now)) ?? false
        return PresentationContext(
            isMasterOn: try isOn(.master), isQuiet: manual?.holds(at: now) ?? false || isScheduled,
            isSilent: try isOn(.silent), desktopState: desktopState, now: now)
    }
}
