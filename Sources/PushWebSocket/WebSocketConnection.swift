// SPDX-License-Identifier: Apache-2.0

/// Gets what comes on a WebSocket connection, inside its `receive`, which must not be called from here.
package protocol WebSocketDelegate: AnyObject {
    /// A whole text message, which is UTF-8; the bytes are lent for the call.
    func received(text: Span<UInt8>)
    /// The answer to a ping, with its payload; or one to no ping.
    func received(pong: Span<UInt8>)
}

/// One WebSocket connection after its handshake, over bytes: no socket, no TLS; its owner sets the clock; for one thread.
///
/// ```
/// open ──close()──────────────▶ closed          Closed: our close frame is in the output, and input is ignored.
///   └───peer's close frame────▶ closed          Whoever owns the socket writes what is left and closes it.
///   └───peer broke a rule─────▶ closed
/// ```
///
/// Takes and sends text only. Pings are answered, masks and fragments undone, UTF-8 checked by wslay.
///
/// - SeeAlso: RFC 6455
package final class WebSocketConnection {
    /// Why it closed.
    package struct Closure: Sendable, Equatable {
        /// The code in the close frame that came first.
        package var code: WebSocketCloseCode
        /// For the log.
        package var reason: String
        /// The peer's close frame came first.
        package var isByPeer: Bool
    }

    /// Nil while it is open.
    package private(set) var closure: Closure?
    /// Frames that came whole; a peer that sends one byte now and then completes none.
    package private(set) var frameCount: UInt64 = 0
    /// Pings that were sent since something came whole.
    package private(set) var unansweredPingCount = 0

    /// Monotonic time, which a server's owner sets each turn; pings and empty frames of a client are counted by it.
    package var nowNanoseconds: UInt64 {
        get { budget.nowNanoseconds }
        set { budget.nowNanoseconds = newValue }
    }

    private let engine: WebSocketEngine
    private let budget: FrameBudget
    /// Exists while the input ends inside a message.
    private var reader: FrameReader?
    private var output: [UInt8]
    private var outputOffset = 0

    /// Control frames hold 125 bytes; two of a close frame are its code.
    private static let closeReasonByteCountMax = 123

    /// Begins behind the handshake.
    ///
    /// - Parameters:
    ///   - engine: Of the same thread.
    ///   - handshake: What is to go out before any frame.
    package init(engine: WebSocketEngine, handshake: [UInt8] = []) {
        self.engine = engine
        budget = FrameBudget(isServer: engine.isServer)
        output = handshake
    }

    // MARK: Input

    /// Takes bytes from the peer, in pieces of any size.
    ///
    /// - Parameters:
    ///   - bytes: What came.
    ///   - delegate: Gets the messages in it; not kept.
    package func receive(_ bytes: Span<UInt8>, for delegate: any WebSocketDelegate) {
        guard closure == nil, bytes.count > 0 else { return }
        let reader = self.reader ?? engine.takeReader()
        self.reader = reader
        let outcome = reader.receive(bytes, budget, for: delegate)
        if reader.frameCount > 0 { unansweredPingCount = 0 }
        frameCount += reader.frameCount
        // The delegate may have closed it: then nothing may follow our close frame.
        guard closure == nil else { return }
        if !reader.reply.isEmpty {
            makeRoom(reader.reply.count)
            output.append(contentsOf: reader.reply)
        }
        switch outcome {
        case .fine:
            self.reader = reader.isBetweenMessages ? nil : reader
            if self.reader == nil { engine.giveBack(reader) }
        case .closed(let code):
            self.reader = nil
            closure = Closure(code: code, reason: "the peer closed", isByPeer: true)
        case .failed(let code, let reason):
            close(code, reason: "\(reason)")
        }
    }

    /// A part of a message has come, but not its rest.
    package var isInsideMessage: Bool { reader != nil }

    // MARK: Output

    /// Sends a text message, which must be UTF-8.
    package func send(text: Span<UInt8>) {
        guard closure == nil else { return }
        budget.messageSent()
        append(.text, text)
    }

    /// Sends a ping with at most 125 bytes, which come back in the pong.
    package func ping(_ payload: [UInt8] = []) {
        guard closure == nil else { return }
        unansweredPingCount += 1
        append(.ping, payload.span)
    }

    /// Sends a close frame; nothing is sent or taken behind it.
    ///
    /// - Parameters:
    ///   - code: Why.
    ///   - reason: For a person; cut off after 123 bytes.
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

    /// Bytes that wait to be collected.
    package var outputByteCount: Int { output.count - outputOffset }

    /// Bytes that the connection holds: output that waits and a message that has come in part.
    package var retainedByteCount: Int { output.capacity + (reader?.heldByteCount ?? 0) }

    /// Moves output to the end of a buffer until about `limit` bytes are in it.
    package func collectOutput(into collected: inout [UInt8], limit: Int) {
        let byteCount = min(outputByteCount, max(limit - collected.count, 0))
        collected.append(contentsOf: output[outputOffset..<outputOffset + byteCount])
        outputOffset += byteCount
        guard outputByteCount == 0 else { return }
        // An idle connection keeps no buffer.
        var emptied: [UInt8] = []
        swap(&emptied, &output)
        outputOffset = 0
        engine.giveBack(emptied)
    }

    private func append(_ opcode: FrameWriter.Opcode, _ payload: Span<UInt8>) {
        makeRoom(FrameWriter.headerByteCountMax + payload.count)
        engine.append(opcode, payload, to: &output)
    }

    /// Makes room for so many bytes at once; grows at least twofold, so that calling it often stays cheap.
    private func makeRoom(_ byteCount: Int) {
        if output.capacity == 0 { output = engine.takeOutput() }
        if outputOffset > 0, outputOffset >= outputByteCount {
            output.removeFirst(outputOffset)
            outputOffset = 0
        }
        guard output.count + byteCount > output.capacity else { return }
        output.reserveCapacity(max(output.count + byteCount, 2 * output.capacity))
    }
}
