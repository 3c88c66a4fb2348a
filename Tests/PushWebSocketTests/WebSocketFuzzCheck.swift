// SPDX-License-Identifier: Apache-2.0

import PushWebSocket

/// What must hold for any bytes that a WebSocket peer may send; FuzzTesting compiles this file too.
enum WebSocketFuzzCheck {
    /// A connection says the same wherever its input is cut; the first byte says where.
    @Sendable static func frames(_ input: [UInt8]) -> String? {
        let stream = Array(input.dropFirst())
        let place = min(Int(input.first ?? 0), stream.count)
        for role in [WebSocketEngine.Role.server, .client] {
            let whole = Listener(role, [stream])
            let parts = Listener(role, [Array(stream[..<place]), Array(stream[place...])])
            if whole.report != parts.report { return "Cut at \(place) it says something else." }
            if whole.texts.contains(where: { $0.count > Listener.messageByteCountMax }) { return "A text is too long." }
        }
        return nil
    }
}

/// A connection that was fed, and what came of it.
private final class Listener: WebSocketDelegate {
    static let messageByteCountMax = 256
    private(set) var texts: [[UInt8]] = []
    private(set) var report: [String] = []

    init(_ role: WebSocketEngine.Role, _ pieces: [[UInt8]]) {
        let engine = WebSocketEngine(role: role, messageByteCountMax: Self.messageByteCountMax) { 1 }
        let connection = WebSocketConnection(engine: engine)
        for piece in pieces { connection.receive(piece.span, for: self) }
        report.append("\(String(describing: connection.closure)) \(connection.frameCount)")
        // A fault makes up for the pongs that it is quick enough to overtake.
        guard connection.closure == nil else { return }
        var output: [UInt8] = []
        connection.collectOutput(into: &output, limit: .max)
        report.append("\(output)")
    }

    func received(text: Span<UInt8>) {
        texts.append((0..<text.count).map { text[$0] })
        report.append("text \(texts[texts.count - 1])")
    }

    func received(pong: Span<UInt8>) { report.append("pong \((0..<pong.count).map { pong[$0] })") }
}
