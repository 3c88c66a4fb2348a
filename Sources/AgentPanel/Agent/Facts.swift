// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushDBus

/// The state of the agent, as `GetStatus` returns it.
package struct StatusFacts: Equatable, Sendable {
    /// Whether the device is enrolled with a server.
    package var isEnrolled: Bool
    /// The server and the connection to it.
    package var server: ServerFacts
    /// Another message for the user; may be empty.
    package var notice: String

    package init(_ facts: BusValue) {
        func time(_ key: String) -> Int64? { facts.number(key) > 0 ? facts.number(key) : nil }
        isEnrolled = facts.flag("enrolled")
        server = ServerFacts(
            url: facts.text("server_url"),
            connectedSinceUnixSeconds: facts.flag("connected") ? time("connected_since") : nil,
            lastConnectedUnixSeconds: time("last_connected"), lastError: facts.text("last_error"),
            isRemoved: facts.flag("removed"))
        notice = facts.text("notice")
    }
}

/// The server of the device, as a part of `GetStatus`.
package struct ServerFacts: Equatable, Sendable {
    /// The server's URL; empty while the device is not paired.
    package var url: String
    /// The start of the current connection in UNIX seconds; nil while disconnected.
    package var connectedSinceUnixSeconds: Int64?
    /// The end of the last connection in UNIX seconds; nil if there never was one.
    package var lastConnectedUnixSeconds: Int64?
    /// The last error, as the agent's English text; may be empty.
    package var lastError: String
    /// Whether the server said that it no longer knows this device.
    package var isRemoved: Bool

    package init(
        url: String, connectedSinceUnixSeconds: Int64?, lastConnectedUnixSeconds: Int64?, lastError: String,
        isRemoved: Bool = false
    ) {
        self.url = url
        self.connectedSinceUnixSeconds = connectedSinceUnixSeconds
        self.lastConnectedUnixSeconds = lastConnectedUnixSeconds
        self.lastError = lastError
        self.isRemoved = isRemoved
    }
}

/// An app, as `ListApps` returns it.
package struct AppFacts: Equatable, Sendable {
    /// A kind of notification that the app declared.
    package struct EventType: Equatable, Sendable {
        /// The agent's identifier of the event type.
        package var id: String
        /// The display name.
        package var name: String

        package init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// The app id.
    package var id: String
    /// The display name.
    package var name: String
    /// The name of an icon or an absolute path; may be empty.
    package var icon: String
    /// The badge number; 0 for no badge.
    package var badge: Int64
    package var allowsBadge: Bool
    package var allowsSound: Bool
    /// The agent's word for the alert style: none, banner or alert.
    package var alertStyle: String
    /// The event types, in the order in which the app declared them.
    package var eventTypes: [EventType]

    package init(_ facts: BusValue) {
        id = facts.text("app_id")
        name = facts.text("name").isEmpty ? id : facts.text("name")
        icon = facts.text("icon")
        // Larger values violate the interface. They are limited, so that a badge never covers the neighboring icons.
        badge = min(facts.number("badge"), Int64(UInt32.max))
        allowsBadge = facts.flag("allows_badge")
        allowsSound = facts.flag("allows_sound")
        alertStyle = facts.text("alert_style")
        eventTypes = facts.items("event_types").map { EventType(id: $0.text("id"), name: $0.text("name")) }
    }
}

/// A setting, as `ListSettings` returns it.
package struct SettingFacts: Equatable, Sendable {
    /// The event type; empty for the app as a whole.
    package var event: String
    /// The name, as listed in docs/reference/settings.md.
    package var name: String
    /// The effective value.
    package var value: String
    /// Whether the administrator locked the setting.
    package var isLocked: Bool

    package init(_ facts: BusValue) {
        event = facts.text("event")
        name = facts.text("name")
        value = facts.text("value")
        isLocked = facts.flag("locked")
    }
}

/// A notification in the inbox, as `SearchInbox` returns it.
package struct EntryFacts: Equatable, Sendable {
    /// The entry's number; newer entries have greater numbers.
    package var entry: Int64
    /// The app id; empty when no app was registered for the notification.
    package var appID: String
    /// The display name.
    package var appName: String
    package var receivedUnixMilliseconds: Int64
    /// The title; may be empty.
    package var title: String
    /// The body; may be empty.
    package var body: String
    /// The delivery state: waiting, shown, viewed, closed or suppressed.
    package var state: String
    /// The reason why the notification was not shown, or an error; may be empty.
    package var reason: String
    /// The result of each part, for example `badge` or `sound:silent`.
    package var effects: [String]
    /// Whether the user has seen the notification.
    package var isRead: Bool
    /// The badge number; nil if the payload has no badge, or if the notification has a title or a body.
    package var badge: Int64?

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

    /// The reason why the notification or its alert was not shown; nil if nothing was withheld.
    package var reasonNotShown: String? {
        switch state {
        case "suppressed": reason
        case "shown": effects.first { $0.hasPrefix("alert:") }.map { String($0.dropFirst("alert:".count)) }
        default: nil
        }
    }

    private static func badge(in payload: String) -> Int64? {
        let value = try? JSONValue(parsing: Array(payload.utf8).span)
        return value?["aps"]?["badge"]?.integer
    }
}

/// A sound that an app can name, as `ListSounds` returns it.
package struct SoundFacts: Equatable, Sendable {
    package var name: String
    /// Whether the app installed the sound.
    package var isOfApp: Bool

    package init(_ facts: BusValue) {
        name = facts.text("name")
        isOfApp = facts.text("origin") == "app"
    }
}

/// An alert that waits for an answer, as `ListAlerts` returns it.
package struct AlertFacts: Equatable, Sendable {
    /// A button that the app defined.
    package struct Action: Equatable, Sendable {
        /// The agent's identifier of the action.
        package var id: String
        /// The label of the button.
        package var title: String
        /// Whether the user enters a text for the action.
        package var takesText: Bool
    }

    /// The number of the inbox entry.
    package var entry: Int64
    /// The registered display name, which the notification cannot change.
    package var appName: String
    /// The name of an icon or an absolute path; may be empty.
    package var icon: String
    /// The title; may be empty.
    package var title: String
    /// The subtitle; may be empty.
    package var subtitle: String
    /// The body; may be empty.
    package var body: String
    /// The label of the button that opens the app; empty if there is only an OK button.
    package var viewLabel: String
    /// The app's own buttons, which replace View.
    package var actions: [Action]
    /// The number of other unanswered alerts of the same conversation.
    package var earlierCount: Int

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
