// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The receiver of messages; `WebSocketConnection.receive` calls it, and it must not call `receive` itself.
package protocol WebSocketDelegate: AnyObject {
    /// Handles a complete text message, which is valid UTF-8; the bytes are valid during the call.
    func received(text: Span<UInt8>)
    /// Handles a complete binary message; the bytes are valid during the call.
    func received(binary: Span<UInt8>)
    /// Handles a pong with its payload; it may also be unsolicited.
    func received(pong: Span<UInt8>)
}

extension WebSocketDelegate {
    /// Does nothing, because only an engine for text messages calls it.
    package func received(text: Span<UInt8>) {}
    /// Does nothing, because only an engine for binary messages calls it.
    package func received(binary: Span<UInt8>) {}
}

/// One WebSocket connection after its handshake, working on bytes: no socket, no TLS, no own clock, and on one thread.
///
/// ```
/// open ──close()──────────────▶ closed          Closed: our close frame is in the output, and input is ignored.
///   └───peer's close frame────▶ closed          The owner writes the remaining output and closes the socket.
///   └───protocol violation────▶ closed
/// ```
///
/// Only messages of the engine's kind are accepted and sent. wslay answers pings, removes masks, joins fragments and validates UTF-8.
///
/// - SeeAlso: RFC 6455
package final class WebSocketConnection {
    /// The reason why the connection closed.
    package struct Closure: Sendable, Equatable {
        /// The code in the first close frame.
        package var code: WebSocketCloseCode
        /// The reason, for the log.
        package var reason: String
        /// Whether the peer sent the first close frame.
        package var isByPeer: Bool
    }

    /// The reason for closing; nil while the connection is open.
    package private(set) var closure: Closure?
    /// The number of complete frames received; a peer that sends one byte now and then completes none.
    package private(set) var frameCount: UInt64 = 0
    /// The number of pings sent since the last complete frame.
    package private(set) var unansweredPingCount = 0

    /// The time, which a server's owner sets each turn; the rates of a client's pings and empty frames use it.
    package var now: MonotonicTime {
        get { budget.now }
        set { budget.now = newValue }
    }

    private let engine: WebSocketEngine
    private let budget: FrameBudget
    /// The reader, which exists while the input ends inside a message.
    private var reader: FrameReader?
    private var output: [UInt8]
    private var outputOffset = 0

    /// The longest close reason in bytes: a control frame holds 125, of which the code takes two.
    private static let closeReasonByteCountMax = 123

    /// Creates an open connection after its handshake.
    ///
    /// - Parameters:
    ///   - engine: The engine of the current thread.
    ///   - handshake: The bytes to send before any frame.
    package init(engine: WebSocketEngine, handshake: [UInt8] = []) {
        self.engine = engine
        budget = FrameBudget(isServer: engine.isServer, metrics: engine.metrics)
        output = handshake
    }

    // MARK: Input

    /// Processes bytes from the peer, in pieces of any size.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - delegate: The receiver of the messages; not retained.
    package func receive(_ bytes: Span<UInt8>, for delegate: any WebSocketDelegate) {
        guard closure == nil, bytes.count > 0 else { return }
        let reader = self.reader ?? engine.takeReader()
        self.reader = reader
        let outcome = reader.receive(bytes, budget, for: delegate)
        if reader.frameCount > 0 { unansweredPingCount = 0 }
        frameCount += reader.frameCount
        // The delegate may have closed the connection: then nothing may follow our close frame.
        guard closure == nil else { return }
        if !reader.reply.isEmpty {
            makeRoom(reader.reply.count)
            output.append(contentsOf: reader.reply)
        }
        switch outcome {
        case .fine:
            self.reader = reader.isBetweenMessages ? nil : reader
            if self.reader == nil { engine.recycle(reader) }
        case .closed(let code):
            self.reader = nil
            closure = Closure(code: code, reason: "the peer closed", isByPeer: true)
        case .failed(let code, let reason):
            note(code)
            close(code, reason: "\(reason)")
        }
    }

    /// Counts a violation by the peer.
    private func note(_ code: WebSocketCloseCode) {
        switch code {
        case .policyViolation: engine.metrics.note(.glitches)
        case .messageTooBig: engine.metrics.note(.size)
        case .internalError: break
        default: engine.metrics.note(.frame)
        }
    }

    /// Whether a message has been received only in part.
    package var isInsideMessage: Bool { reader != nil }

    // MARK: Output

    /// Sends a text message, which must be valid UTF-8.
    package func send(text: Span<UInt8>) { sendText(byteCountMax: text.count) { $0.append(text) } }

    /// Sends a text message, which is encoded directly into the output.
    ///
    /// - Parameters:
    ///   - byteCountMax: The space that the message needs at most.
    ///   - encode: Appends the message, which must be valid UTF-8.
    package func sendText(byteCountMax: Int, _ encode: (inout OutputSpan<UInt8>) -> Void) {
        guard closure == nil else { return }
        budget.messageSent()
        append(.text, byteCountMax: byteCountMax, encode)
    }

    /// Sends a binary message.
    package func send(binary: Span<UInt8>) {
        guard closure == nil else { return }
        budget.messageSent()
        append(.binary, binary)
    }

    /// Sends a ping with at most 125 bytes, which the pong repeats.
    package func ping(_ payload: [UInt8] = []) {
        guard closure == nil else { return }
        unansweredPingCount += 1
        append(.ping, payload.span)
    }

    /// Sends a close frame; nothing is sent or accepted after it.
    ///
    /// - Parameters:
    ///   - code: The close code.
    ///   - reason: A human-readable reason; cut off after 123 bytes.
    package func close(_ code: WebSocketCloseCode, reason: String) {
        guard closure == nil else { return }
        closure = Closure(code: code, reason: reason, isByPeer: false)
        reader?.ignoreRest()
        reader = nil
        var payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
        for character in reason.unicodeScalars {
            let bytes = UTF8.encode(character).map(Array.init) ?? []
            guard payload.count + bytes.count <= 2 + Self.closeReasonByteCountMax else { break }
            payload += bytes
        }
        append(.close, payload.span)
    }

    /// The number of bytes that wait to be collected.
    package var outputByteCount: Int { output.count - outputOffset }

    /// The number of bytes held: waiting output and an incomplete message.
    package var retainedByteCount: Int { output.capacity + (reader?.heldByteCount ?? 0) }

    /// Moves output to the end of a buffer until it has about `limit` bytes.
    package func collectOutput(into collected: inout [UInt8], limit: Int) {
        let byteCount = min(outputByteCount, max(limit - collected.count, 0))
        collected.append(contentsOf: output[outputOffset..<outputOffset + byteCount])
        outputOffset += byteCount
        guard outputByteCount == 0 else { return }
        // An idle connection keeps no buffer.
        var emptied: [UInt8] = []
        swap(&emptied, &output)
        outputOffset = 0
        engine.recycle(consume emptied)
    }

    private func append(_ opcode: FrameWriter.Opcode, _ payload: Span<UInt8>) {
        append(opcode, byteCountMax: payload.count) { $0.append(payload) }
    }

    private func append(
        _ opcode: FrameWriter.Opcode, byteCountMax: Int, _ encode: (inout OutputSpan<UInt8>) -> Void
    ) {
        makeRoom(FrameWriter.headerByteCountMax + byteCountMax)
        engine.writer.append(opcode, byteCountMax: byteCountMax, to: &output, encode)
    }

    /// Reserves space for this many bytes; a buffer in use grows at least twofold, so that frequent calls stay cheap.
    private func makeRoom(_ byteCount: Int) {
        if output.capacity == 0 { output = engine.takeOutput() }
        if outputOffset > 0, outputOffset >= outputByteCount {
            output.removeFirst(outputOffset)
            outputOffset = 0
        }
        guard output.count + byteCount > output.capacity else { return }
        output.reserveCapacity(output.isEmpty ? byteCount : max(output.count + byteCount, 2 * output.capacity))
    }
}
