// SPDX-License-Identifier: Apache-2.0

@testable import PushWebSocket

/// The invariants for arbitrary bytes from a WebSocket peer.
///
/// FuzzTesting compiles this file too.
enum WebSocketFuzzCheck {
    /// Checks that the output does not depend on where the input is split.
    ///
    /// - Parameter input: The bytes, of which the first one selects the split.
    /// - Returns: The violation, or nil.
    @Sendable static func frames(_ input: [UInt8]) -> String? {
        let stream = Array(input.dropFirst())
        let place = min(Int(input.first ?? 0), stream.count)
        for role in [WebSocketEngine.Role.server, .client] {
            let whole = Listener(role, [stream])
            let parts = Listener(role, [Array(stream[..<place]), Array(stream[place...])])
            if whole.texts.contains(where: { $0.count > Listener.messageByteCountMax }) { return "A text is too long." }
            // wslay checks only the part of a close reason that arrives in the same piece as its code.
            let isCloseReason = whole.hasInvalidCloseReason || parts.hasInvalidCloseReason
            let isSame = isCloseReason ? whole.texts == parts.texts : whole.report == parts.report
            if !isSame { return "Cut at \(place) it says \(parts.report), else \(whole.report)." }
        }
        return nil
    }
}

/// Feeds a connection and records its messages and its output.
private final class Listener: WebSocketDelegate {
    static let messageByteCountMax = 256
    private(set) var texts: [[UInt8]] = []
    private(set) var report: [String] = []
    private(set) var hasInvalidCloseReason = false

    init(_ role: WebSocketEngine.Role, _ pieces: [[UInt8]]) {
        let engine = WebSocketEngine(role: role, messageByteCountMax: Self.messageByteCountMax) { 1 }
        let connection = WebSocketConnection(engine: engine)
        for piece in pieces { connection.receive(piece.span, for: self) }
        report.append("\(String(describing: connection.closure)) \(connection.frameCount)")
        hasInvalidCloseReason = connection.closure?.reason == "the close reason is not UTF-8"
        // A close frame with an error overtakes pongs, so the output is compared only without an error.
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
