// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushWebSocket

/// A link that another node of the cluster has opened, as a WebSocket that replaces the HTTP session of its connection.
final class NodeSocket: WebSocketSession {
    let socket: WebSocketConnection
    let link: AcceptedLink
    // A reference cycle until the connection closes its session, which it does before it is removed.
    private let connection: ServerConnection
    private let onClose: (NodeSocket) -> Void
    private(set) var isClosed = false
    /// The reason for the end that this node has chosen; nil for none.
    private var reason: String?
    /// Ignored, because packets and output have limits of their own.
    var retainedByteCountMax = Limits.retainedByteCountMax

    /// Creates a link that first sends the head of the response 101.
    init(
        _ link: AcceptedLink, on connection: ServerConnection, engine: WebSocketEngine, handshake: [UInt8],
        onClose: @escaping (NodeSocket) -> Void
    ) {
        self.link = link
        self.connection = connection
        self.onClose = onClose
        socket = WebSocketConnection(engine: engine, handshake: handshake)
    }

    // MARK: To the node

    func send(_ packets: [[UInt8]]) {
        for packet in packets { socket.send(binary: packet.span) }
        link.outputWaits(byteCount: socket.outputByteCount)
        link.took(packets)
        connection.needsFlush()
    }

    /// Sends a ping, or closes the connection if the node is silent.
    func tick() {
        guard socket.unansweredPingCount < LinkSettings.unansweredPingCountMax else {
            reason = "the node does not answer"
            return connection.close("the node does not answer")
        }
        socket.ping()
        connection.needsFlush()
    }

    /// Ends the link, and tells the node why.
    func end(_ reason: String) {
        self.reason = reason
        // A node that does not read must not keep the output in memory.
        guard socket.outputByteCount == 0 else { return connection.close(reason) }
        socket.close(.goingAway, reason: reason)
        connection.needsFlush()
    }

    // MARK: From the node

    func received(binary: Span<UInt8>) {
        guard !link.received(binary) else { return }
        end("more than \(LinkSettings.waitingByteCountMax) bytes wait for this node")
    }

    // MARK: The session of its connection

    func collectOutput(into output: inout [UInt8], limit: Int) {
        socket.collectOutput(into: &output, limit: limit)
        link.outputWaits(byteCount: socket.outputByteCount)
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        link.closed(reason ?? socket.closure?.reason ?? "the connection is lost")
        onClose(self)
    }
}
