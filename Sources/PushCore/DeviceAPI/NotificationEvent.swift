// SPDX-License-Identifier: Apache-2.0

/// The stream's `notification` event, written by the server and read by the device.
///
/// ```
/// event: notification
/// id: 42
/// data: {"id":42,"unique-id":"…","topic":"…","app":"…","apns-id":"…","push-type":"alert","priority":10,
///        "expiration":0,"collapse-id":"…","channel-id":"…","accepted-at":1790000000000,"payload":{"aps":{}}}
/// ```
///
/// on one line. What the provider did not give is left out. `payload` comes last and holds the provider's bytes
/// unchanged; a payload with line ends, or with blanks around it, goes as `payload-base64`, a collapse id that is no
/// text as `collapse-id-base64`.
package enum NotificationEvent {
    /// The event's name.
    package static let name = "notification"

    /// The names of the members, in their order.
    enum Key {
        static let sequence = "id"
        static let uniqueID = "unique-id"
        static let topicName = "topic"
        static let app = "app"
        static let apnsID = "apns-id"
        static let pushType = "push-type"
        static let priority = "priority"
        static let expiration = "expiration"
        static let collapseID = "collapse-id"
        static let collapseIDBase64 = "collapse-id-base64"
        static let acceptedAt = "accepted-at"
        static let channel = "channel-id"
        static let payload = "payload"
        static let payloadBase64 = "payload-base64"
    }

    /// Appends the event; allocates nothing but room in the output.
    ///
    /// - Parameters:
    ///   - pending: The notification and its place in the device's queue. Its payload is a JSON text that was validated.
    ///   - app: The registered topic, without the push type's suffix; left out when nil.
    ///   - output: Where the event goes.
    package static func append(_ pending: PendingNotification, app: String? = nil, to output: inout [UInt8]) {
        reserveRoom(for: pending, in: &output)
        output.append("event: notification\nid: ")
        Decimal.append(pending.sequence, to: &output)
        output.append("\ndata: ")
        appendObject(pending, app: app, to: &output)
        output.append("\n\n")
    }

    /// Makes room for the event, or the message, at once.
    static func reserveRoom(for pending: PendingNotification, in output: inout [UInt8]) {
        // The names and numbers of an event together are well below this.
        let envelopeByteCount = 512
        output.reserveAdditional(envelopeByteCount + pending.notification.payload.count)
    }

    /// Appends the event's data, one JSON object on one line.
    static func appendObject(_ pending: PendingNotification, app: String? = nil, to output: inout [UInt8]) {
        let notification = pending.notification
        let (apnsID, payload) = (notification.apnsID, notification.payload)
        output.append("{\"id\":")
        Decimal.append(pending.sequence, to: &output)
        append(Key.uniqueID, notification.uniqueID, to: &output)
        append(Key.topicName, notification.topicName, to: &output)
        if let app { append(Key.app, app, to: &output) }
        appendText(Key.apnsID, apnsID.span, to: &output)
        appendOptions(of: notification, to: &output)
        append(Key.acceptedAt, notification.acceptedUnixMilliseconds, to: &output)
        appendPayload(payload.span, to: &output)
        output.append("}")
    }

    /// Appends what a provider may leave out.
    private static func appendOptions(of notification: Notification, to output: inout [UInt8]) {
        if let pushType = notification.pushType { append(Key.pushType, pushType.rawValue, to: &output) }
        if let priority = notification.priority { append(Key.priority, Int64(priority), to: &output) }
        if let expiration = notification.expirationUnixSeconds { append(Key.expiration, expiration, to: &output) }
        if let channel = notification.channel { append(Key.channel, channel.text, to: &output) }
        guard let collapseID = notification.collapseID else { return }
        if (try? UTF8Span(validating: collapseID.span)) != nil {
            appendText(Key.collapseID, collapseID.span, to: &output)
        } else {
            appendBase64(Key.collapseIDBase64, collapseID.span, to: &output)
        }
    }

    /// Appends the payload as it is, or in base64 when the device could not cut it out of the line again.
    private static func appendPayload(_ payload: Span<UInt8>, to output: inout [UInt8]) {
        guard canBeRaw(payload) else { return appendBase64(Key.payloadBase64, payload, to: &output) }
        JSONWriter.append(key: Key.payload, to: &output)
        output.append(payload)
    }

    /// Whether a payload has no line ends, which would end the line, and no blanks around it, which would get lost.
    private static func canBeRaw(_ payload: Span<UInt8>) -> Bool {
        guard !payload.isEmpty, payload[0] == UInt8(ascii: "{"), payload[payload.count - 1] == UInt8(ascii: "}") else {
            return false
        }
        for offset in payload.indices
        where payload[offset] == UInt8(ascii: "\n") || payload[offset] == UInt8(ascii: "\r") {
            return false
        }
        return true
    }

    private static func append(_ key: String, _ number: Int64, to output: inout [UInt8]) {
        JSONWriter.append(key: key, to: &output)
        JSONWriter.append(number, to: &output)
    }

    private static func append(_ key: String, _ text: String, to output: inout [UInt8]) {
        JSONWriter.append(key: key, to: &output)
        JSONWriter.append(text, to: &output)
    }

    private static func append(_ key: String, _ id: UniqueID, to output: inout [UInt8]) {
        JSONWriter.append(key: key, to: &output)
        output.append(UInt8(ascii: "\""))
        id.append(to: &output)
        output.append(UInt8(ascii: "\""))
    }

    private static func appendText(_ key: String, _ text: Span<UInt8>, to output: inout [UInt8]) {
        JSONWriter.append(key: key, to: &output)
        JSONWriter.append(utf8: text, to: &output)
    }

    private static func appendBase64(_ key: String, _ bytes: Span<UInt8>, to output: inout [UInt8]) {
        JSONWriter.append(key: key, to: &output)
        output.append(UInt8(ascii: "\""))
        Base64.append(bytes, to: &output)
        output.append(UInt8(ascii: "\""))
    }
}
