// SPDX-License-Identifier: Apache-2.0

import AgentBus
import PushDBus

/// Sample values as an agent sends them.
enum SampleRecords {
    static func alert(
        _ entry: Int64 = 1, viewLabel: String = "View", actions: [(id: String, takesText: Bool)] = [],
        body: String = "At noon."
    ) -> AlertRecord {
        AlertRecord(
            .dictionary([
                ("entry", .int64(entry)), ("app_id", .string("org.example.Mail")), ("app_name", .string("Mail")),
                ("title", .string("Lunch")), ("body", .string(body)), ("view_label", .string(viewLabel)),
                ("verified", .bool(true)),
                ("earlier", .uint32(2)),
                (
                    "actions",
                    .array(
                        "a{sv}",
                        actions.map { action in
                            .dictionary([
                                ("id", .string(action.id)), ("title", .string(action.id.uppercased())),
                                ("takes_text", .bool(action.takesText)),
                            ])
                        })
                ),
            ]))
    }

    static func entry(
        _ entry: Int64, app: String = "org.example.Mail", name: String = "Mail", title: String = "Lunch",
        body: String = "At noon.", state: String = "shown", reason: String = "", isRead: Bool = true,
        payload: String = "", effects: [String] = ["badge", "sound:silent"]
    ) -> InboxRecord {
        InboxRecord(
            .dictionary([
                ("entry", .int64(entry)), ("app_id", .string(app)), ("app_name", .string(name)),
                ("received_at", .int64(1_795_295_709_000)), ("title", .string(title)), ("body", .string(body)),
                ("state", .string(state)), ("reason", .string(reason)), ("read", .bool(isRead)),
                ("effects", .strings(effects)), ("payload", .string(payload)), ("verified", .bool(true)),
            ]))
    }

    static func app(
        _ id: String = "org.example.Mail", name: String = "Mail", badge: UInt32 = 0, allowsBadge: Bool = true,
        allowsSound: Bool = true, style: String = "banner"
    ) -> AppRecord {
        AppRecord(
            .dictionary([
                ("app_id", .string(id)), ("name", .string(name)), ("icon", .string("mail-unread")),
                ("badge", .uint32(badge)), ("allows_badge", .bool(allowsBadge)), ("allows_sound", .bool(allowsSound)),
                ("alert_style", .string(style)), ("verified", .bool(true)),
                (
                    "event_types",
                    .array("a{sv}", [.dictionary([("id", .string("message")), ("name", .string("Messages"))])])
                ),
            ]))
    }

    /// Returns an app's badge number as it is read from any integer.
    static func badge(_ number: Int64) -> UInt32 { AppRecord(.dictionary([("badge", .int64(number))])).badge }
}
