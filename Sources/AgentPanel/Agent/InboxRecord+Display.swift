// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushCore

extension InboxRecord {
    /// The badge number; nil if the payload has no badge, or if the notification has a title or a body.
    ///
    /// Each use parses the payload.
    var badge: Int64? {
        guard !hasText else { return nil }
        let value = try? JSONValue(parsing: Array(payload.utf8).span)
        return value?["aps"]?["badge"]?.integer
    }

    /// Whether the app chose its name, and no installed app and no user confirmed it.
    var isUnverified: Bool { !isVerified && !appID.isEmpty }

    /// Whether the entry offers to allow time-sensitive notifications of its app.
    var offersTimeSensitive: Bool { offer == "time-sensitive" }

    /// The reason why the notification or its alert was not shown; nil if nothing was withheld.
    var reasonNotShown: String? {
        switch state {
        case "suppressed": reason
        case "shown": effects.first { $0.hasPrefix("alert:") }.map { String($0.dropFirst("alert:".count)) }
        default: nil
        }
    }

    /// A copy that has its payload only if `badge` needs it, because the panel keeps thousands of entries.
    var withoutUnusedPayload: InboxRecord {
        var copy = self
        if hasText { copy.payload = "" }
        return copy
    }

    private var hasText: Bool { !title.isEmpty || !body.isEmpty }
}
