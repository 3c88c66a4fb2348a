// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The messages of a device's stream over WebSocket: JSON objects whose single member identifies the kind.
///
/// ```
/// server to device   {"notification":{"id":42,…}}      the data of the `notification` event
///                    {"policy":{"version":3}}          the administrator's policies have changed
///                    {"authorities":{"version":3}}     the authorities that the server announces have changed
///                    {"goodbye":{"reason":"shutdown","retry_after":1}}
/// device to server   {"acks":[{"id":42,"outcome":"shown"}]}
/// ```
package enum StreamMessage {
    /// The WebSocket subprotocol, which both ends name in the handshake.
    package static let subprotocol = "posthorn.v1"

    /// The names of the members.
    enum Key {
        static let notification = "notification"
        static let goodbye = "goodbye"
        static let acknowledgements: StaticString = "acks"
    }

    /// Returns the largest number of bytes of the message with a notification.
    package static func byteCountMax(of pending: PendingNotification) -> Int {
        NotificationEvent.objectByteCountMax(pending)
    }

    /// Appends the message with a notification to space for at least `byteCountMax` bytes.
    package static func append(_ pending: PendingNotification, to output: inout OutputSpan<UInt8>) {
        output.append(literal: #"{"notification":"#)
        NotificationEvent.appendObject(pending, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends the message with the version of the policies or of the authorities.
    package static func append(_ notice: VersionNotice, to output: inout [UInt8]) {
        output.append("{\"")
        output.append(notice.kind.rawValue)
        output.append("\":")
        notice.appendObject(to: &output)
        output.append("}")
    }

    /// Appends the message that announces the end of the stream.
    package static func append(_ goodbye: StreamGoodbye, to output: inout [UInt8]) {
        output.append("{\"goodbye\":")
        goodbye.appendObject(to: &output)
        output.append("}")
    }

    /// Appends the message with a device's acknowledgements.
    package static func append(_ acknowledgements: [DeviceAPI.Acknowledgement], to output: inout [UInt8]) {
        output.append("{\"acks\":[")
        for (index, acknowledgement) in acknowledgements.enumerated() {
            output.append(index == 0 ? "{" : ",{")
            JSONWriter.append(key: "id", to: &output)
            JSONWriter.append(acknowledgement.id, to: &output)
            JSONWriter.append(key: "outcome", to: &output)
            JSONWriter.append(acknowledgement.outcome.rawValue, to: &output)
            if let reason = acknowledgement.reason {
                JSONWriter.append(key: "reason", to: &output)
                JSONWriter.append(reason, to: &output)
            }
            output.append("}")
        }
        output.append("]}")
    }
}

/// The reason why the server ends a device's stream, and the time before the device may reconnect.
package struct StreamGoodbye: Equatable, Sendable {
    /// The event's name.
    package static let eventName = "goodbye"
    /// The reason as a word: `shutdown`, `replaced` or `removed`.
    package var reason: String
    /// The minimum number of seconds before the device reconnects.
    package var retryAfterSeconds: Int64?

    package init(reason: String, retryAfterSeconds: Int64?) {
        self.reason = reason
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// Parses the data of an event; missing or invalid members stay empty.
    package init(data: Span<UInt8>) {
        let body = try? JSONValue(parsing: data)
        reason = body?["reason"]?.string ?? ""
        retryAfterSeconds = body?["retry_after"]?.integer
    }

    /// Appends the event.
    package func appendEvent(to output: inout [UInt8]) {
        var data: [UInt8] = []
        appendObject(to: &data)
        EventStream.appendEvent(name: Self.eventName, data: data.span, to: &output)
    }

    func appendObject(to output: inout [UInt8]) {
        output.append("{")
        JSONWriter.append(key: "reason", to: &output)
        JSONWriter.append(reason, to: &output)
        if let retryAfterSeconds {
            JSONWriter.append(key: "retry_after", to: &output)
            JSONWriter.append(retryAfterSeconds, to: &output)
        }
        output.append("}")
    }
}
