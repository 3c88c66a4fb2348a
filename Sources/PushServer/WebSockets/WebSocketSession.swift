// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushWebSocket

/// A WebSocket that replaces the HTTP session of its connection.
protocol WebSocketSession: ConnectionSession, WebSocketDelegate {
    var socket: WebSocketConnection { get }
    /// Whether the connection is gone.
    var isClosed: Bool { get }
}

extension WebSocketSession {
    var now: MonotonicTime {
        get { socket.now }
        set { socket.now = newValue }
    }

    var retainedByteCount: Int { socket.retainedByteCount }

    /// Does nothing, because the arrival of a pong is sufficient.
    func received(pong: Span<UInt8>) {}

    func receive(_ bytes: Span<UInt8>) -> Bool {
        socket.receive(bytes, for: self)
        return failure == nil
    }

    /// The number of frames, plus the request that began the WebSocket.
    var completedMessageCount: UInt64 { 1 + socket.frameCount }
    var hasOutput: Bool { !isClosed && socket.outputByteCount > 0 }
    var isFinished: Bool { isClosed || (socket.closure != nil && socket.outputByteCount == 0) }
    /// Whether no message is incomplete and all output was accepted.
    var isQuiet: Bool { !isFinished && !socket.isInsideMessage && socket.outputByteCount == 0 }
    var awaitsRest: Bool { socket.isInsideMessage }
    /// The WebSocket itself, so that the connection does not count as idle.
    var openExchangeCount: Int { isFinished ? 0 : 1 }
    func finishShutdown(debugData: [UInt8]) { socket.close(.goingAway, reason: "shutdown") }

    /// The peer's violation of the protocol; nil if the WebSocket ended regularly.
    var failure: String? {
        guard let closure = socket.closure, !closure.isByPeer, closure.code != .goingAway else { return nil }
        return closure.reason
    }
}
