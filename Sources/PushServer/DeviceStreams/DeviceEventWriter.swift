// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing

/// A device's open stream in any format; it ends with its connection.
protocol DeviceEventWriter: AnyObject {
    /// The name of the format in the log.
    static var name: String { get }
    /// The time at which the device connected.
    var connectedAt: MonotonicTime { get }
    /// Sends notifications; those that the peer does not accept stay pending in the store and are sent again.
    func send(_ notifications: [PendingNotification])
    /// Sends data, so that both ends know that the other is alive.
    func sendHeartbeat()
    /// Announces the current version of the policies or of the authorities.
    func tell(_ notice: VersionNotice)
    /// Sends the reason for the end of the stream, and ends it.
    func end(_ goodbye: StreamGoodbye)
}

/// A stream of server-sent events, over any version of HTTP.
final class EventStreamSender: DeviceEventWriter {
    static let name = "events"
    private let exchange: HTTPExchange
    // A reference cycle until the connection closes its session, which it does before it is removed.
    private let connection: ServerConnection
    private let streams: DeviceStreams

    /// Starts the response.
    init(_ exchange: HTTPExchange, on connection: ServerConnection, streams: DeviceStreams) {
        self.exchange = exchange
        self.connection = connection
        self.streams = streams
        exchange.addField("content-type", "text/event-stream")
        exchange.addField("cache-control", "no-store")
        exchange.beginStream(status: 200)
        // The first heartbeat moves the head through proxies that buffer small responses.
        sendHeartbeat()
    }

    var connectedAt: MonotonicTime { connection.beganAt }

    func send(_ notifications: [PendingNotification]) {
        send { output in
            for notification in notifications { NotificationEvent.append(notification, to: &output) }
        }
    }

    func sendHeartbeat() { send { EventStream.appendComment(to: &$0) } }

    func tell(_ notice: VersionNotice) { send { notice.appendEvent(to: &$0) } }

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
