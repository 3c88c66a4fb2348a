// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushStore
internal import PushTLS

/// The body of a webhook request, which is a JSON array of events, and its signature.
enum WebhookMessage {
    /// Returns the array of events, oldest first.
    ///
    /// - Parameters:
    ///   - entries: The events.
    ///   - topic: The topic of the app.
    ///   - deviceToken: Creates the device token that the back-end knows.
    /// - Returns: JSON without whitespace.
    static func body(
        _ entries: [TraceEntry], topic: TopicName, deviceToken: (TraceEntry.Token) -> String
    ) -> [UInt8] {
        var body = [UInt8(ascii: "[")]
        for entry in entries {
            if body.count > 1 { body.append(UInt8(ascii: ",")) }
            append(entry, topic: topic, deviceToken: entry.token.map(deviceToken), to: &body)
        }
        body.append(UInt8(ascii: "]"))
        return body
    }

    private static func append(_ entry: TraceEntry, topic: TopicName, deviceToken: String?, to body: inout [UInt8]) {
        let event = entry.event
        body.append(UInt8(ascii: "{"))
        JSONWriter.append(key: "id", to: &body)
        JSONWriter.append(entry.position, to: &body)
        append("event", event.step.word, to: &body)
        append("reason", event.detail.word, to: &body)
        JSONWriter.append(key: "at", to: &body)
        JSONWriter.append(event.at.unixMilliseconds, to: &body)
        append("topic", topic.text, to: &body)
        append("device_token", deviceToken, to: &body)
        append("apns-id", entry.origin?.apnsIDText, to: &body)
        append("apns-unique-id", entry.origin?.uniqueID.text, to: &body)
        body.append(UInt8(ascii: "}"))
    }

    private static func append(_ key: String, _ text: String?, to body: inout [UInt8]) {
        guard let text else { return }
        JSONWriter.append(key: key, to: &body)
        JSONWriter.append(text, to: &body)
    }

    /// Returns the value of `posthorn-signature`: the time, and HMAC-SHA256 over the time, a dot and the body.
    static func signature(of body: [UInt8], secret: [UInt8], now: Timestamp) -> String {
        let signed = Array("\(now.unixSeconds).".utf8) + body
        return "t=\(now.unixSeconds),v1=\(Hex.string(HMAC.sha256(signed.span, key: secret.span)))"
    }
}
