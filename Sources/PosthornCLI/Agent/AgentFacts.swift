// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushDBus

/// The answer of `GetStatus`; a missing key reads as empty, so that older agents work too.
package struct AgentStatusReply: Codable, Sendable {
    let version: String
    let enrolled: Bool
    let removed: Bool
    let serverURL: String
    let deviceID: String
    let connected: Bool
    let connectedSince: Int64
    let lastConnected: Int64
    let nextTry: Int64
    let lastError: String
    let notice: String
    let presenter: String
    let processID: Int64

    package init(_ facts: BusValue) {
        version = facts.text("version")
        enrolled = facts.flag("enrolled")
        removed = facts.flag("removed")
        serverURL = facts.text("server_url")
        deviceID = facts.text("device_id")
        connected = facts.flag("connected")
        connectedSince = facts.number("connected_since")
        lastConnected = facts.number("last_connected")
        nextTry = facts.number("next_try")
        lastError = facts.text("last_error")
        notice = facts.text("notice")
        presenter = facts.text("presenter")
        processID = facts.number("pid")
    }

    private enum CodingKeys: String, CodingKey {
        case version, enrolled, removed, connected, notice, presenter
        case serverURL = "server_url"
        case deviceID = "device_id"
        case connectedSince = "connected_since"
        case lastConnected = "last_connected"
        case nextTry = "next_try"
        case lastError = "last_error"
        case processID = "process_id"
    }
}

/// An app, as `ListApps` returns it.
package struct AgentApp: Codable, Sendable {
    let appID: String
    let topic: String
    let name: String
    let deviceToken: String
    let badge: Int64
    let allowsBadge: Bool
    let allowsSound: Bool
    let allowsAlert: Bool
    let alertStyle: String
    let environment: String
    let channels: [String]
    let pendingChannels: [String]
    let advice: [String]

    package init(_ facts: BusValue) {
        appID = facts.text("app_id")
        topic = facts.text("topic")
        name = facts.text("name")
        deviceToken = facts.text("device_token")
        badge = facts.number("badge")
        allowsBadge = facts.flag("allows_badge")
        allowsSound = facts.flag("allows_sound")
        allowsAlert = facts.flag("allows_alert")
        alertStyle = facts.text("alert_style")
        environment = facts.text("environment")
        channels = facts.texts("channels")
        pendingChannels = facts.texts("pending_channels")
        advice = facts.texts("advice")
    }

    private enum CodingKeys: String, CodingKey {
        case topic, name, badge, environment, channels, advice
        case pendingChannels = "pending_channels"
        case appID = "app_id"
        case deviceToken = "device_token"
        case allowsBadge = "allows_badge"
        case allowsSound = "allows_sound"
        case allowsAlert = "allows_alert"
        case alertStyle = "alert_style"
    }
}

/// A setting, as `ListSettings` returns it.
package struct AgentSettingReply: Codable, Sendable {
    let event: String
    let name: String
    let value: String
    let isLocked: Bool
    let origin: String

    package init(_ facts: BusValue) {
        event = facts.text("event")
        name = facts.text("name")
        value = facts.text("value")
        isLocked = facts.flag("locked")
        origin = facts.text("origin")
    }

    private enum CodingKeys: String, CodingKey {
        case event, name, value, origin
        case isLocked = "locked"
    }
}

/// A sound, as `ListSounds` returns it.
package struct AgentSound: Codable, Sendable {
    let name: String
    let origin: String

    package init(_ facts: BusValue) {
        name = facts.text("name")
        origin = facts.text("origin")
    }
}

/// An inbox entry, as `ListInbox` returns it.
package struct InboxItem: Codable, Sendable {
    let entry: Int64
    let id: String
    let appID: String
    let appName: String
    let receivedUnixMilliseconds: Int64
    let title: String
    let body: String
    let payload: String
    let state: String
    let reason: String
    let effects: [String]
    let read: Bool
    let channel: String

    package init(_ facts: BusValue) {
        entry = facts.number("entry")
        id = facts.text("id")
        appID = facts.text("app_id")
        appName = facts.text("app_name")
        receivedUnixMilliseconds = facts.number("received_at")
        title = facts.text("title")
        body = facts.text("body")
        payload = facts.text("payload")
        state = facts.text("state")
        reason = facts.text("reason")
        effects = facts.texts("effects")
        read = facts.flag("read")
        channel = facts.text("channel")
    }

    private enum CodingKeys: String, CodingKey {
        case entry, id, title, body, payload, state, reason, effects, read, channel
        case appID = "app_id"
        case appName = "app_name"
        case receivedUnixMilliseconds = "received_at"
    }

    /// The app's name; its app id if the app has no name.
    var appTitle: String { appName.isEmpty ? appID : appName }

    /// The title and body in one line; the other parts if there is no text.
    var summary: String {
        let texts = [title, body].filter { !$0.isEmpty }
        return texts.isEmpty ? parts : texts.joined(separator: ": ")
    }

    /// The parts of a notification without text, for example `badge 3`.
    var parts: String {
        effects.map { effect in
            let part = effect.prefix { $0 != ":" }
            return part == "badge" ? badge.map { "badge \($0)" } ?? "badge" : String(part)
        }.joined(separator: ", ")
    }

    private var badge: Int64? {
        let value = try? JSONValue(parsing: Array(payload.utf8).span)
        return value?["aps"]?["badge"]?.integer
    }

    /// The delivery state and the reason for it.
    var outcome: String {
        guard reason.isEmpty, state == "shown" else { return reason.isEmpty ? state : "\(state): \(reason)" }
        // The notification was shown without an alert, so the text names the parts that the user noticed.
        guard let missing = effects.first(where: { $0.hasPrefix("alert:") }) else { return state }
        let parts = effects.filter { !$0.contains(":") }.joined(separator: " and ")
        return "\(state): \(parts) only, \(missing.dropFirst("alert:".count))"
    }
}
