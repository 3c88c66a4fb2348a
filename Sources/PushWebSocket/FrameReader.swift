// SPDX-License-Identifier: Apache-2.0

internal import CWslay

/// A reader that parses frames and assembles messages; owns one `wslay_event_context *`, about 9 KB.
///
/// A connection needs a reader only from the first byte of a message to its last. wslay's own buffering of messages is
/// off: it allocates for each frame, and a message in one piece needs no copy.
@safe final class FrameReader {
    /// The result of processing some input.
    enum Outcome {
        /// All input was processed.
        case fine
        /// The peer's close frame was received; the close frame to send is in `reply`.
        case closed(WebSocketCloseCode)
        /// The peer violated the protocol: close the connection with this code.
        case failed(WebSocketCloseCode, StaticString)
    }

    /// The header of the frame that is being read.
    private struct Frame {
        var isControl = false
        var isFinal = false
        var payloadByteCount = 0
    }

    private var handle: OpaquePointer?
    private let messageByteCountMax: Int
    private let messageKind: WebSocketEngine.MessageKind
    private let headerByteCountMin: Int
    private let makeMask: MaskSource

    // Set while `receive` runs.
    private var budget: FrameBudget?
    private var delegate: (any WebSocketDelegate)?
    private var input = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    private var inputOffset = 0
    private var failure: (WebSocketCloseCode, StaticString)?
    private var closeCode: WebSocketCloseCode?
    /// Pongs, and the answer to a close frame.
    private(set) var reply: [UInt8] = []

    // The position inside a message at which the input ended.
    /// The number of processed bytes that belong to no complete frame.
    private var openFrameByteCount = 0
    private var isInsideMessage = false
    private var frame = Frame()
    /// The received part of a message in several pieces.
    private var message: [UInt8] = []
    /// A message that arrived in one piece; it is in wslay's buffer, and valid until wslay reads on.
    private var piece = unsafe UnsafeBufferPointer<UInt8>(start: nil, count: 0)
    /// The number of complete frames in the last input.
    private(set) var frameCount: UInt64 = 0

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - isServer: Whether this is a server: then the peer must mask its frames, else it must not.
    ///   - messageKind: The only accepted type of messages; another one ends with `unsupportedData`.
    ///   - messageByteCountMax: The longest message in bytes; a longer one ends with `messageTooBig`.
    ///   - makeMask: The source of masks for a client's pongs.
    init(
        isServer: Bool, messageKind: WebSocketEngine.MessageKind, messageByteCountMax: Int,
        makeMask: @escaping MaskSource
    ) {
        self.messageByteCountMax = messageByteCountMax
        self.messageKind = messageKind
        self.makeMask = makeMask
        headerByteCountMin = isServer ? 6 : 2
        var callbacks = unsafe wslay_event_callbacks(
            recv_callback: giveInput, send_callback: takeReply, genmask_callback: takeMask,
            on_frame_recv_start_callback: takeHeader, on_frame_recv_chunk_callback: takePiece,
            on_frame_recv_end_callback: endFrame, on_msg_recv_callback: endMessage)
        // Not retained: the context is freed with this object.
        let userData = unsafe Unmanaged.passUnretained(self).toOpaque()
        let code =
            unsafe isServer
            ? wslay_event_context_server_init(&handle, &callbacks, userData)
            : wslay_event_context_client_init(&handle, &callbacks, userData)
        precondition(code == 0, "wslay_event_context_init: out of memory")
        unsafe wslay_event_config_set_no_buffering(handle, 1)
        unsafe wslay_event_config_set_max_recv_msg_length(handle, UInt64(messageByteCountMax))
    }

    deinit { unsafe wslay_event_context_free(handle) }

    /// Whether no part of a message was received, so that any connection may use this reader.
    var isBetweenMessages: Bool {
        openFrameByteCount == 0 && !isInsideMessage && failure == nil && closeCode == nil
    }

    /// The number of bytes held: about 9 KB for wslay's context, and the received part of a message.
    var heldByteCount: Int { Self.contextByteCount + message.capacity }
    private static let contextByteCount = 9216

    /// Processes input, charges its frames to the budget, and calls the delegate for each message.
    func receive(
        _ bytes: Span<UInt8>, _ budget: FrameBudget, for delegate: any WebSocketDelegate
    ) -> Outcome {
        self.budget = budget
        defer { self.budget = nil }
        self.delegate = delegate
        reply.removeAll(keepingCapacity: true)
        frameCount = 0
        openFrameByteCount += bytes.count
        let code = unsafe bytes.withUnsafeBufferPointer { buffer in
            unsafe input = buffer
            inputOffset = 0
            let code = unsafe wslay_event_recv(handle)
            unsafe input = UnsafeBufferPointer(start: nil, count: 0)
            return code
        }
        self.delegate = nil
        return outcome(of: code)
    }

    /// Stops reading, including the rest of the current input.
    func ignoreRest() { unsafe wslay_event_shutdown_read(handle) }

    private func outcome(of code: Int32) -> Outcome {
        if let failure { return .failed(failure.0, failure.1) }
        // If wslay rejects a header, it gives no code; RFC 6455, section 7.4.1, defines one for this case.
        guard code == 0 else { return fail(.protocolError, "a frame breaks the protocol") }
        if unsafe wslay_event_want_write(handle) != 0 {
            let code = unsafe wslay_event_send(handle)
            guard code == 0 else { return fail(.internalError, "wslay_event_send: out of memory") }
        }
        if let closeCode { return .closed(closeCode) }
        guard unsafe wslay_event_get_close_sent(handle) != 0 else { return .fine }
        reply.removeAll()
        switch unsafe wslay_event_get_status_code_sent(handle) {
        case WebSocketCloseCode.messageTooBig.rawValue: return fail(.messageTooBig, "the message is too big")
        case WebSocketCloseCode.invalidPayload.rawValue:
            // wslay skips the first two bytes of each piece of a close frame, so it does not detect some invalid
            // reasons.
            return fail(.invalidPayload, frame.isControl ? "the close reason is not UTF-8" : "the text is not UTF-8")
        default: return fail(.protocolError, "a frame breaks the protocol")
        }
    }

    private func fail(_ code: WebSocketCloseCode, _ reason: StaticString) -> Outcome {
        failure = (code, reason)
        return .failed(code, reason)
    }

    // MARK: Calls from wslay

    fileprivate func give(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        let byteCount = unsafe min(buffer.count, input.count - inputOffset)
        let rest = unsafe UnsafeBufferPointer(rebasing: input[inputOffset..<inputOffset + byteCount])
        _ = unsafe buffer.update(fromContentsOf: rest)
        inputOffset += byteCount
        return byteCount
    }

    fileprivate func take(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe reply.append(contentsOf: bytes) }

    fileprivate func mask() -> UInt32 { makeMask() }

    fileprivate func frameBegan(_ header: wslay_event_on_frame_recv_start_arg) {
        // wslay has rejected frames that are longer than a message may be, so nothing is clamped and no sum overflows.
        let byteCount = Int(clamping: header.payload_length)
        frame = Frame(isControl: header.opcode & 0x8 != 0, isFinal: header.fin != 0, payloadByteCount: byteCount)
        openFrameByteCount -= headerByteCountMin + (byteCount < 126 ? 0 : byteCount < 65_536 ? 2 : 8)
        if !pays(for: header.opcode) { stop(.policyViolation, "too many control or empty frames") }
        guard !frame.isControl else { return }
        isInsideMessage = true
        if byteCount > messageByteCountMax - message.count {
            // wslay checks only single frames, since it does not keep them.
            stop(.messageTooBig, "the message is too big")
        } else {
            switch messageKind {
            case .text where UInt32(header.opcode) == WSLAY_BINARY_FRAME.rawValue:
                stop(.unsupportedData, "only text messages are taken")
            case .binary where UInt32(header.opcode) == WSLAY_TEXT_FRAME.rawValue:
                stop(.unsupportedData, "only binary messages are taken")
            case .text, .binary: break
            }
        }
    }

    /// Counts a frame that costs its sender almost nothing; returns false if there were too many.
    private func pays(for opcode: UInt8) -> Bool {
        guard let budget else { return true }
        switch UInt32(opcode) {
        case WSLAY_PING.rawValue: return budget.takePing()
        case WSLAY_PONG.rawValue: return budget.take(FrameBudget.glitchesPerOtherFrame)
        case WSLAY_CONNECTION_CLOSE.rawValue: return true
        default:
            if frame.payloadByteCount == 0 { return budget.take(FrameBudget.glitchesPerEmptyFrame) }
            return frame.isFinal || budget.take(FrameBudget.glitchesPerOtherFrame)
        }
    }

    fileprivate func pieceCame(_ bytes: UnsafeBufferPointer<UInt8>) {
        openFrameByteCount -= bytes.count
        guard !frame.isControl, failure == nil, !bytes.isEmpty else { return }
        if message.isEmpty, frame.isFinal, frame.payloadByteCount == bytes.count {
            unsafe piece = bytes
        } else {
            unsafe message.append(contentsOf: bytes)
        }
    }

    /// Counts a complete frame; not a rejected one, or the count would depend on how the input was split.
    fileprivate func frameEnded() {
        if failure == nil { frameCount += 1 }
    }

    fileprivate func messageEnded(opcode: UInt8, _ control: UnsafeBufferPointer<UInt8>, code: UInt16) {
        guard failure == nil else { return }
        switch UInt32(opcode) {
        case WSLAY_TEXT_FRAME.rawValue, WSLAY_BINARY_FRAME.rawValue:
            let (whole, pieces) = unsafe (piece, message)
            forgetMessage()
            if pieces.isEmpty {
                unsafe pass(whole.span)
            } else {
                pass(pieces.span)
            }
        case WSLAY_PONG.rawValue: unsafe delegate?.received(pong: control.span)
        case WSLAY_CONNECTION_CLOSE.rawValue:
            // wslay treats half a code like no code, but RFC 6455, section 5.5.1, requires two bytes if there are any.
            guard frame.payloadByteCount != 1 else {
                return stop(.protocolError, "the payload of a close frame has 1 byte")
            }
            closeCode = code == 0 ? .noStatus : WebSocketCloseCode(rawValue: code)
        default: break
        }
    }

    private func pass(_ message: Span<UInt8>) {
        switch messageKind {
        case .text: delegate?.received(text: message)
        case .binary: delegate?.received(binary: message)
        }
    }

    private func forgetMessage() {
        isInsideMessage = false
        unsafe piece = UnsafeBufferPointer(start: nil, count: 0)
        message = []
    }

    private func stop(_ code: WebSocketCloseCode, _ reason: StaticString) {
        failure = failure ?? (code, reason)
        ignoreRest()
    }
}

// MARK: Callbacks

/// Calls the body with a callback's reader: its `init` sets the user data, and the caller of wslay holds the reader.
private func with<Result>(_ userData: UnsafeMutableRawPointer?, _ body: (FrameReader) -> Result) -> Result {
    guard let userData = unsafe userData else { preconditionFailure("wslay lost its user data") }
    return unsafe Unmanaged<FrameReader>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
}

private func giveInput(
    _ context: OpaquePointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ byteCount: Int, _ flags: Int32,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    let space = unsafe UnsafeMutableBufferPointer(start: buffer, count: byteCount)
    let given = unsafe with(userData) { unsafe $0.give(into: space) }
    guard given == 0 else { return given }
    unsafe wslay_event_set_error(context, WSLAY_ERR_WOULDBLOCK.rawValue)
    return -1
}

private func takeReply(
    _ context: OpaquePointer?, _ bytes: UnsafePointer<UInt8>?, _ byteCount: Int, _ flags: Int32,
    _ userData: UnsafeMutableRawPointer?
) -> Int {
    unsafe with(userData) { unsafe $0.take(UnsafeBufferPointer(start: bytes, count: byteCount)) }
    return byteCount
}

private func takeMask(
    _ context: OpaquePointer?, _ mask: UnsafeMutablePointer<UInt8>?, _ byteCount: Int,
    _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    let space = unsafe UnsafeMutableRawBufferPointer(start: mask, count: byteCount)
    guard space.count == MemoryLayout<UInt32>.size else { return -1 }
    unsafe space.storeBytes(of: with(userData) { $0.mask() }, as: UInt32.self)
    return 0
}

private func takeHeader(
    _ context: OpaquePointer?, _ frame: UnsafePointer<wslay_event_on_frame_recv_start_arg>?,
    _ userData: UnsafeMutableRawPointer?
) {
    guard let header = unsafe frame?.pointee else { return }
    unsafe with(userData) { $0.frameBegan(header) }
}

private func takePiece(
    _ context: OpaquePointer?, _ piece: UnsafePointer<wslay_event_on_frame_recv_chunk_arg>?,
    _ userData: UnsafeMutableRawPointer?
) {
    guard let piece = unsafe piece?.pointee else { return }
    unsafe with(userData) { unsafe $0.pieceCame(UnsafeBufferPointer(start: piece.data, count: piece.data_length)) }
}

private func endFrame(_ context: OpaquePointer?, _ userData: UnsafeMutableRawPointer?) {
    unsafe with(userData) { $0.frameEnded() }
}

private func endMessage(
    _ context: OpaquePointer?, _ message: UnsafePointer<wslay_event_on_msg_recv_arg>?,
    _ userData: UnsafeMutableRawPointer?
) {
    guard let message = unsafe message?.pointee else { return }
    let control = unsafe UnsafeBufferPointer(start: message.msg, count: message.msg_length)
    unsafe with(userData) { unsafe $0.messageEnded(opcode: message.opcode, control, code: message.status_code) }
}
