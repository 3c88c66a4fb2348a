// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

extension InboxEntry {
    /// The notification as JSON for the app; the payload is included byte for byte.
    var notificationJSON: [UInt8] { notificationJSON(with: nil) }

    /// Returns the notification as JSON for the app, with the ID of the chosen button and the typed text.
    func notificationJSON(with action: ChosenAction?) -> [UInt8] {
        var output = Array("{".utf8)
        var facts = [
            ("app_id", appID.text), ("topic", topic.text), ("apns_id", apnsID), ("unique_id", uniqueID),
            ("title", title ?? ""),
            ("body", body ?? ""),
        ]
        if let channel { facts.append(("channel_id", channel)) }
        if let action { facts += [("action", action.id), ("text", action.text ?? "")] }
        for (key, text) in facts {
            JSONWriter.append(key: key, to: &output)
            JSONWriter.append(text, to: &output)
        }
        JSONWriter.append(key: "received_at", to: &output)
        JSONWriter.append(receivedAt.unixMilliseconds, to: &output)
        JSONWriter.append(key: "payload", to: &output)
        return output + payload + [UInt8(ascii: "}")]
    }
}
