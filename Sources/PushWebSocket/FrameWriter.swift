// SPDX-License-Identifier: Apache-2.0

internal import CWslay

/// A writer of complete frames; owns one `wslay_frame_context *`.
///
/// The context holds nothing between two frames, so all connections of a thread share one.
@safe final class FrameWriter {
    /// The frame type in the first byte of a frame.
    enum Opcode: UInt8 {
        case text = 1
        case close = 8
        case ping = 9
    }

    /// The longest header in bytes: a length of eight bytes, and a mask.
    static let headerByteCountMax = 14

    private var handle: OpaquePointer?
    private let isMasking: Bool
    private let makeMask: MaskSource
    /// The caller's output while a frame is being written.
    private var output: [UInt8] = []

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - isMasking: Whether frames are masked, as required for clients (RFC 6455, section 5.3).
    ///   - makeMask: The source of masks, called for each frame when masking.
    init(isMasking: Bool, makeMask: @escaping MaskSource) {
        self.isMasking = isMasking
        self.makeMask = makeMask
        var callbacks = unsafe wslay_frame_callbacks(
            send_callback: takeFrameBytes, recv_callback: nil, genmask_callback: takeMask)
        // Not retained: the context is freed with this object.
        let code =
            unsafe wslay_frame_context_init(&handle, &callbacks, Unmanaged.passUnretained(self).toOpaque())
        precondition(code == 0, "wslay_frame_context_init: out of memory")
    }

    deinit { unsafe wslay_frame_context_free(handle) }

    /// Appends one frame with a complete message; the payload of a control frame must have at most 125 bytes.
    func append(_ opcode: Opcode, _ payload: Span<UInt8>, to collected: inout [UInt8]) {
        swap(&collected, &output)
        unsafe payload.withUnsafeBufferPointer { bytes in
            var frame = unsafe wslay_frame_iocb()
            unsafe frame.fin = 1
            unsafe frame.opcode = opcode.rawValue
            unsafe frame.mask = isMasking ? 1 : 0
            unsafe frame.payload_length = UInt64(bytes.count)
            unsafe frame.data = bytes.baseAddress
            unsafe frame.data_length = bytes.count
            // Accepts all bytes in one call, since `take` never refuses any.
            let written = unsafe wslay_frame_send(handle, &frame)
            precondition(written == bytes.count, "wslay_frame_send wrote \(written) of \(bytes.count) bytes")
        }
        swap(&collected, &output)
    }

    fileprivate func take(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe output.append(contentsOf: bytes) }

    fileprivate func mask() -> UInt32 { makeMask() }
}

/// Calls the body with a callback's writer: its `init` sets the user data, and the caller of wslay holds the writer.
private func with<Result>(_ userData: UnsafeMutableRawPointer?, _ body: (FrameWriter) -> Result) -> Result {
    guard let userData = unsafe userData else { preconditionFailure("wslay lost its user data") }
    return unsafe Unmanaged<FrameWriter>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
}

private func takeFrameBytes(
    _ bytes: UnsafePointer<UInt8>?, _ byteCount: Int, _ flags: Int32, _ userData: UnsafeMutableRawPointer?
) -> Int {
    unsafe with(userData) { unsafe $0.take(UnsafeBufferPointer(start: bytes, count: byteCount)) }
    return byteCount
}

private func takeMask(
    _ mask: UnsafeMutablePointer<UInt8>?, _ byteCount: Int, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe store(with(userData) { $0.mask() }, in: mask, byteCount)
}

/// Stores a mask in wslay's buffer; returns 0, or -1 if the buffer does not have the expected four bytes.
func store(_ mask: UInt32, in buffer: UnsafeMutablePointer<UInt8>?, _ byteCount: Int) -> Int32 {
    let space = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: byteCount)
    guard space.count == MemoryLayout<UInt32>.size else { return -1 }
    unsafe space.storeBytes(of: mask, as: UInt32.self)
    return 0
}
