// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushDBus

/// How the agent is doing: what `GetStatus` answers.
package struct StatusFacts: Equatable, Sendable {
    /// Whether it has a server.
    package var isEnrolled: Bool
    /// What the panel says of the connection.
    package var server: ServerText
    /// What else a person should know; empty for nothing.
    package var notice: String

    /// Reads an `a{sv}`.
    package init(_ facts: BusValue) {
        func time(_ key: String) -> Int64? { facts.number(key) > 0 ? facts.number(key) : nil }
        isEnrolled = facts.flag("enrolled")
        server = ServerText(
            url: facts.text("server_url"),
            connectedSinceUnixSeconds: facts.flag("connected") ? time("connected_since") : nil,
            lastConnectedUnixSeconds: time("last_connected"), lastError: facts.text("last_error"),
            isRemoved: facts.flag("removed"))
        notice = facts.text("notice")
    }
}

/// An app: an element of what `ListApps` answers.
package struct AppFacts: Equatable, Sendable {
    /// A kind of notification that the app declared.
    package struct EventType: Equatable, Sendable {
        /// By which the agent knows it.
        package var id: String
        /// For people.
        package var name: String

        /// Joins the two.
        package init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// By which the agent knows it.
    package var id: String
    /// For people.
    package var name: String
    /// The name of an icon or an absolute path; empty for none.
    package var icon: String
    /// The number on its icon; 0 for none.
    package var badge: Int64
    /// Whether it may put numbers on its icon.
    package var allowsBadge: Bool
    /// Whether it may be heard.
    package var allowsSound: Bool
    /// How its alerts appear, as the agent says it: none, banner, alert.
    package var alertStyle: String
    /// In the order in which it declared them.
    package var eventTypes: [EventType]

    /// Reads an `a{sv}`.
    package init(_ facts: BusValue) {
        id = facts.text("app_id")
        name = facts.text("name").isEmpty ? id : facts.text("name")
        icon = facts.text("icon")
        // The most that the contract knows; whatever else an agent says must not cover the icons beside.
        badge = min(facts.number("badge"), Int64(UInt32.max))
        allowsBadge = facts.flag("allows_badge")
        allowsSound = facts.flag("allows_sound")
        alertStyle = facts.text("alert_style")
        eventTypes = facts.items("event_types").map { EventType(id: $0.text("id"), name: $0.text("name")) }
    }
}

/// What holds of a setting: an element of what `ListSettings` answers.
package struct SettingFacts: Equatable, Sendable {
    /// The event type; empty for the app as a whole.
    package var event: String
    /// As docs/reference/settings.md lists them.
    package var name: String
    /// What holds.
    package var value: String
    /// Whether the administrator decided it.
    package var isLocked: Bool

    /// Reads an `a{sv}`.
    package init(_ facts: BusValue) {
        event = facts.text("event")
        name = facts.text("name")
        value = facts.text("value")
        isLocked = facts.flag("locked")
    }
}

/// A notification in the inbox: an element of what `SearchInbox` answers.
package struct EntryFacts: Equatable, Sendable {
    /// Its number: a newer one's is greater.
    package var entry: Int64
    /// Whose; empty when no app was registered for it.
    package var appID: String
    /// For people.
    package var appName: String
    /// UNIX milliseconds.
    package var receivedUnixMilliseconds: Int64
    /// Empty for none.
    package var title: String
    /// Empty for none.
    package var body: String
    /// How far it got: waiting, shown, viewed, closed, suppressed.
    package var state: String
    /// Why it was not shown, or what went wrong; empty for nothing.
    package var reason: String
    /// What became of each part, as `badge` or `sound:silent`.
    package var effects: [String]
    /// Whether the person has seen it.
    package var isRead: Bool
    /// The number that it has for the icon; nil for none, and where it has texts, which say more.
    package var badge: Int64?

    /// Reads an `a{sv}`.
    package init(_ facts: BusValue) {
        entry = facts.number("entry")
        appID = facts.text("app_id")
        appName = facts.text("app_name").isEmpty ? appID : facts.text("app_name")
        receivedUnixMilliseconds = facts.number("received_at")
        title = facts.text("title")
        body = facts.text("body")
        state = facts.text("state")
        reason = facts.text("reason")
        effects = facts.texts("effects")
        isRead = facts.flag("read")
        badge = title.isEmpty && body.isEmpty ? Self.badge(in: facts.text("payload")) : nil
    }

    private static func badge(in payload: String) -> Int64? {
        let value = try? JSONValue(parsing: Array(payload.utf8).span)
        return value?["aps"]?["badge"]?.integer
    }
}

/// A sound that an app can name: an element of what `ListSounds` answers.
package struct SoundFacts: Equatable, Sendable {
    /// What it is called.
    package var name: String
    /// Whether the app brought it.
    package var isOfApp: Bool

    /// Reads an `a{sv}`.
    package init(_ facts: BusValue) {
        name = facts.text("name")
        isOfApp = facts.text("origin") == "app"
    }
}

/// An alert that waits for an answer: an element of what `ListAlerts` answers.
package struct AlertFacts: Equatable, Sendable {
    /// A button of the app's own.
    package struct Action: Equatable, Sendable {
        /// By which the agent knows it.
        package var id: String
        /// What is on the button.
        package var title: String
        /// Whether the person types something for it.
        package var takesText: Bool
    }

    /// Its number in the inbox.
    package var entry: Int64
    /// For people; the registered one, whatever the notification says.
    package var appName: String
    /// The name of an icon or an absolute path; empty for none.
    package var icon: String
    /// Empty for none.
    package var title: String
    /// Empty for none.
    package var subtitle: String
    /// Empty for none.
    package var body: String
    /// What is on the button that opens the app; empty for a single OK.
    package var viewLabel: String
    /// In the place of View when there are any.
    package var actions: [Action]
    /// How many of the same conversation wait unanswered.
    package var earlierCount: Int

    /// Reads an `a{sv}`.
    package init(_ facts: BusValue) {
        entry = facts.number("entry")
        appName = facts.text("app_name").isEmpty ? facts.text("app_id") : facts.text("app_name")
        icon = facts.text("icon")
        title = facts.text("title")
        subtitle = facts.text("subtitle")
        body = facts.text("body")
        viewLabel = facts.text("view_label")
        actions = facts.items("actions").map {
            Action(id: $0.text("id"), title: $0.text("title"), takesText: $0.flag("takes_text"))
        }
        earlierCount = Int(clamping: facts.number("earlier"))
    }
}
