// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// A device's open stream, whatever it is written in; gone with its connection.
protocol DeviceStream: AnyObject {
    /// For the log.
    static var name: String { get }
    /// Sends notifications; what the peer does not take stays pending in the store and comes again.
    func send(_ notifications: [PendingNotification])
    /// Sends something, so that both ends know that the other lives.
    func sendHeartbeat()
    /// Tells which version the policies have.
    func tell(_ notice: PolicyNotice)
    /// Says why the stream ends, and ends it.
    func end(_ goodbye: StreamGoodbye)
}

/// A stream of server-sent events, over any version of HTTP.
final class EventStreamSender: DeviceStream {
    static let name = "events"
    private let exchange: HTTPExchange
    // Until the connection closes its session, which it does before it goes.
    private let connection: ServerConnection
    private let streams: DeviceStreams

    /// Begins the answer.
    init(_ exchange: HTTPExchange, on connection: ServerConnection, streams: DeviceStreams) {
        self.exchange = exchange
        self.connection = connection
        self.streams = streams
        exchange.addField("content-type", "text/event-stream")
        exchange.addField("cache-control", "no-store")
        exchange.beginStream(status: 200)
        // Brings the head through what buffers small answers.
        sendHeartbeat()
    }

    func send(_ notifications: [PendingNotification]) {
        send { output in
            for notification in notifications { NotificationEvent.append(notification, to: &output) }
        }
    }

    func sendHeartbeat() { send { EventStream.appendComment(to: &$0) } }

    func tell(_ notice: PolicyNotice) { send { notice.appendEvent(to: &$0) } }

    func end(_ goodbye: StreamGoodbye) {
        send { goodbye.appendEvent(to: &$0) }
        exchange.endStream()
        connection.needsFlush()
    }

    private func send(_ append: (inout [UInt8]) -> Void) {
        streams.withScratch { scratch in
            append(&scratch)
            guard exchange.unsentByteCount + scratch.count <= Limits.outputByteCountMax else {
                return connection.close(DeviceStreams.unreadReason)
            }
            exchange.send(scratch.span)
            connection.needsFlush()
        }
    }
}
