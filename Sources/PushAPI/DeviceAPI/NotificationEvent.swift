// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The `notification` event of the stream, which the server writes and the device reads.
///
/// ```
/// event: notification
/// ID: 42
/// data: {"id":42,"unique-id":"…","topic":"…","app":"…","apns-id":"…","push-type":"alert","priority":10,
///        "expiration":0,"collapse-id":"…","channel-id":"…","accepted-at":1790000000000,"payload":{"aps":{}}}
/// ```
///
/// The data is on one line. Values that the provider did not send are omitted. `payload` comes last and contains the
/// provider's bytes unchanged. A payload with line endings, or with whitespace around it, is sent as `payload-base64`.
/// A collapse ID that is not valid UTF-8 is sent as `collapse-id-base64`.
package enum NotificationEvent {
    /// The event's name.
    package static let name = "notification"

    /// The names of the members in their order; the decoder uses them.
    enum Key {
        static let sequence = "id"
        static let uniqueID = "unique-id"
        static let suffixedTopic = "topic"
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

    /// Appends the event; allocates nothing except space in the output.
    ///
    /// - Parameters:
    ///   - pending: The notification and its position in the device's queue. Its payload is validated JSON.
    ///   - app: The registered topic, without the push type's suffix; omitted when nil.
    ///   - output: The buffer that the event is appended to.
    package static func append(_ pending: PendingNotification, app: TopicName? = nil, to output: inout [UInt8]) {
        output.append(addingCapacity: objectByteCountMax(pending, app: app)) { output in
            output.append(literal: "event: notification\nid: ")
            Decimal.append(pending.sequence, to: &output)
            output.append(literal: "\ndata: ")
            appendObject(pending, app: app, to: &output)
            output.append(literal: "\n\n")
        }
    }

    /// Returns the largest number of bytes of an event or a message with this notification.
    static func objectByteCountMax(_ pending: PendingNotification, app: TopicName? = nil) -> Int {
        let notification = pending.notification
        // The names, the numbers, the IDs of the server and the channel together take far fewer bytes than this.
        let envelopeByteCount = 512
        let textByteCount =
            notification.suffixedTopic.utf8.count + (app?.text.utf8.count ?? 0) + notification.apnsID.count
            + (notification.collapseID?.count ?? 0)
        return envelopeByteCount + JSONWriter.quotedByteCountMax(textByteCount)
            + Base64.byteCount(notification.payload.count)
    }

    /// Appends the event's data, one JSON object on one line.
    static func appendObject(
        _ pending: PendingNotification, app: TopicName? = nil, to output: inout OutputSpan<UInt8>
    ) {
        let notification = pending.notification
        let (apnsID, payload) = (notification.apnsID, notification.payload)
        output.append(literal: #"{"id":"#)
        Decimal.append(pending.sequence, to: &output)
        output.append(literal: #","unique-id":""#)
        notification.uniqueID.append(to: &output)
        output.append(literal: #"","topic":"#)
        JSONWriter.append(notification.suffixedTopic, to: &output)
        if let app {
            output.append(literal: #","app":"#)
            JSONWriter.append(app.text, to: &output)
        }
        output.append(literal: #","apns-id":"#)
        JSONWriter.append(utf8: apnsID.span, to: &output)
        appendOptions(of: notification, to: &output)
        output.append(literal: #","accepted-at":"#)
        Decimal.append(notification.acceptedAt.unixMilliseconds, to: &output)
        appendPayload(payload.span, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends the values that a provider may omit.
    private static func appendOptions(of notification: Notification, to output: inout OutputSpan<UInt8>) {
        if let pushType = notification.pushType {
            output.append(literal: #","push-type":"#)
            JSONWriter.append(pushType.rawValue, to: &output)
        }
        if let priority = notification.priority {
            output.append(literal: #","priority":"#)
            Decimal.append(Int64(priority), to: &output)
        }
        if let expiration = notification.expiration {
            output.append(literal: #","expiration":"#)
            Decimal.append(expiration.unixSeconds, to: &output)
        }
        if let channel = notification.channel {
            output.append(literal: #","channel-id":"#)
            JSONWriter.append(channel.text, to: &output)
        }
        if let collapseID = notification.collapseID { appendCollapseID(collapseID.span, to: &output) }
    }

    private static func appendCollapseID(_ collapseID: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        if (try? UTF8Span(validating: collapseID)) != nil {
            output.append(literal: #","collapse-id":"#)
            JSONWriter.append(utf8: collapseID, to: &output)
        } else {
            output.append(literal: #","collapse-id-base64":"#)
            appendBase64(collapseID, to: &output)
        }
    }

    /// Appends the payload unchanged, or in base64 when the device could not extract it exactly from the line.
    private static func appendPayload(_ payload: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        if canBeRaw(payload) {
            output.append(literal: #","payload":"#)
            output.append(payload)
        } else {
            output.append(literal: #","payload-base64":"#)
            appendBase64(payload, to: &output)
        }
    }

    private static func appendBase64(_ bytes: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\""))
        Base64.append(bytes, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Returns whether a payload has no line endings, which would end the line, and no surrounding whitespace.
    ///
    /// The device could not restore surrounding whitespace.
    private static func canBeRaw(_ payload: Span<UInt8>) -> Bool {
        let count = payload.count
        guard count > 0, payload[0] == UInt8(ascii: "{"), payload[count - 1] == UInt8(ascii: "}") else { return false }
        guard payload.hasControlCharacter else { return true }
        for offset in payload.indices
        where payload[offset] == UInt8(ascii: "\n") || payload[offset] == UInt8(ascii: "\r") {
            return false
        }
        return true
    }
}
