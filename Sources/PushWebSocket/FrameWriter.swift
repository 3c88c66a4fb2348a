// SPDX-License-Identifier: Apache-2.0

/// A writer of complete frames.
///
/// A message is encoded directly behind the space for its header, so that its bytes are written once. wslay's writer
/// needs the whole message first.
///
/// - SeeAlso: RFC 6455, section 5.2
struct FrameWriter {
    /// The frame type in the first byte of a frame.
    enum Opcode: UInt8 {
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
    }

    /// The longest header in bytes: a length of eight bytes, and a mask.
    static let headerByteCountMax = 14
    private static let finalFlag: UInt8 = 0x80
    private static let maskFlag: UInt8 = 0x80
    private static let maskByteCount = 4

    /// The source of masks, called for each frame; nil for a server, whose frames have none.
    let makeMask: MaskSource?

    /// Appends one frame with a complete message.
    ///
    /// - Parameters:
    ///   - opcode: The type of the frame; the payload of a control frame must have at most 125 bytes.
    ///   - byteCountMax: The space that the payload needs at most.
    ///   - output: The buffer that the frame is appended to.
    ///   - encode: Appends the payload.
    func append(
        _ opcode: Opcode, byteCountMax: Int, to output: inout [UInt8], _ encode: (inout OutputSpan<UInt8>) -> Void
    ) {
        let start = output.count
        let reserved = headerByteCount(byteCountMax)
        output.append(addingCapacity: reserved + byteCountMax) { frame in
            frame.append(repeating: 0, count: reserved)
            encode(&frame)
        }
        let payloadByteCount = output.count - start - reserved
        let spare = reserved - headerByteCount(payloadByteCount)
        if spare > 0 { output.removeSubrange(start..<start + spare) }
        output[start] = Self.finalFlag | opcode.rawValue
        writeLength(payloadByteCount, at: start + 1, of: &output)
        if let makeMask { mask(payloadByteCount, with: makeMask(), in: &output) }
    }

    private func headerByteCount(_ payloadByteCount: Int) -> Int {
        2 + Self.extendedByteCount(payloadByteCount) + (makeMask == nil ? 0 : Self.maskByteCount)
    }

    /// Returns the number of bytes of a length behind the second byte of the header.
    private static func extendedByteCount(_ payloadByteCount: Int) -> Int {
        payloadByteCount < 126 ? 0 : payloadByteCount < 65_536 ? 2 : 8
    }

    private func writeLength(_ byteCount: Int, at index: Int, of output: inout [UInt8]) {
        let extendedByteCount = Self.extendedByteCount(byteCount)
        let length = extendedByteCount == 0 ? UInt8(byteCount) : extendedByteCount == 2 ? 126 : 127
        output[index] = length | (makeMask == nil ? 0 : Self.maskFlag)
        for place in 0..<extendedByteCount {
            output[index + extendedByteCount - place] = UInt8(truncatingIfNeeded: byteCount >> (8 * place))
        }
    }

    /// Masks the payload at the end of the output, and writes the mask in front of it.
    private func mask(_ byteCount: Int, with mask: UInt32, in output: inout [UInt8]) {
        let start = output.count - byteCount
        for place in 0..<Self.maskByteCount {
            output[start - Self.maskByteCount + place] = Self.byte(place, of: mask)
        }
        for place in 0..<byteCount { output[start + place] ^= Self.byte(place & 3, of: mask) }
    }

    private static func byte(_ place: Int, of mask: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: mask >> UInt32(8 * place))
    }
}

extension OutputSpan<UInt8> {
    /// Appends all bytes of a span, which must fit.
    mutating func append(_ bytes: Span<UInt8>) {
        precondition(bytes.count <= freeCapacity, "a frame is longer than announced")
        unsafe withUnsafeMutableBufferPointer { space, count in
            // In bounds: the precondition has checked the free capacity.
            let rest = unsafe UnsafeMutableBufferPointer(rebasing: space[count...])
            unsafe bytes.withUnsafeBufferPointer { count += unsafe rest.initialize(fromContentsOf: $0) }
        }
    }
}
