// SPDX-License-Identifier: Apache-2.0

/// Parses the frame headers of the input, to count the frames that cost their sender nothing.
///
/// nghttp2 does not call back for the frames that it ignores: unknown types, frames on closed streams, padding. So they
/// are counted here, before nghttp2 sees them. A meter stays synchronized with any bytes; their meaning is left to
/// nghttp2.
///
///     preface (24) ─▶ ┌ header (9) ─▶ payload (length) ┐
///                     └────────────────◀───────────────┘
///
/// - SeeAlso: RFC 9113, section 4.1
struct FrameMeter {
    /// The cost of a piece of input.
    struct Charge: Equatable {
        /// The number of glitches, with the costs in `HTTPBounds`.
        var glitches = 0
        /// The number of WINDOW_UPDATE frames.
        ///
        /// They are not in `glitches`: the number of legitimate ones depends on the data that we sent.
        var windowUpdates = 0
        /// The number of frames that begin a request.
        var headers = 0
        /// The first frame on a stream that the peer may no longer use.
        var violation: StreamOrder.Violation?
    }

    private static let headerByteCount = 9
    private static let streamIDMask: UInt32 = 0x7FFF_FFFF
    private static let endStreamFlag: UInt8 = 0x1
    private static let endHeadersFlag: UInt8 = 0x4
    private static let paddedFlag: UInt8 = 0x8

    /// The remaining bytes of the preface or of a payload.
    private var byteCountToSkip = ProtocolDetector.preface.utf8CodeUnitCount
    /// The number of received bytes of a frame's header.
    private var headerIndex = 0
    private var length = 0
    private var type: UInt8 = 0
    private var flags: UInt8 = 0
    /// The stream identifier; includes the reserved bit until the header is complete.
    private var streamID: UInt32 = 0
    private var order = StreamOrder()
    private var isPastPreface = false
    /// The number of complete frames.
    private(set) var completedFrameCount: UInt64 = 0
    /// Whether the header block continues in the next frame.
    private var headerBlockIsOpen = false

    init() {}

    /// Whether the preface, a frame or a header block has been received only in part.
    var awaitsRest: Bool { byteCountToSkip > 0 || headerIndex > 0 || headerBlockIsOpen }

    /// Processes the next bytes of the connection and returns the charge of all frames whose header ended in them.
    mutating func charge(for bytes: Span<UInt8>) -> Charge {
        var charge = Charge()
        var index = 0
        while index < bytes.count {
            if byteCountToSkip > 0 {
                let skipped = min(byteCountToSkip, bytes.count - index)
                byteCountToSkip -= skipped
                index += skipped
                if byteCountToSkip == 0 { endFrame() }
                continue
            }
            if headerIndex == 0, bytes.count - index >= Self.headerByteCount {
                // The usual case, which needs no counting of bytes.
                takeHeader(bytes.extracting(index..<index + Self.headerByteCount))
                index += Self.headerByteCount
            } else {
                takeHeaderByte(bytes[index])
                index += 1
            }
            if headerIndex == Self.headerByteCount { endHeader(&charge) }
        }
        return charge
    }

    private mutating func takeHeader(_ header: Span<UInt8>) {
        length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        (type, flags, headerIndex) = (header[3], header[4], Self.headerByteCount)
        streamID =
            UInt32(header[5]) << 24 | UInt32(header[6]) << 16 | UInt32(header[7]) << 8 | UInt32(header[8])
    }

    private mutating func takeHeaderByte(_ byte: UInt8) {
        switch headerIndex {
        case 0: length = Int(byte) << 16
        case 1: length |= Int(byte) << 8
        case 2: length |= Int(byte)
        case 3: type = byte
        case 4: flags = byte
        default: streamID = streamID << 8 | UInt32(byte)
        }
        headerIndex += 1
    }

    private mutating func endHeader(_ charge: inout Charge) {
        headerIndex = 0
        byteCountToSkip = length
        if length == 0 { endFrame() }
        switch type {
        case 0x0:
            charge.glitches += dataGlitches
            checkOrder(&charge)
        // nghttp2's own counters and our stream counters bound HEADERS, RST_STREAM and CONTINUATION.
        case 0x1, 0x9:
            if type == 0x1 {
                charge.headers += 1
                checkOrder(&charge)
            }
            headerBlockIsOpen = flags & Self.endHeadersFlag == 0
        case 0x3: order.takeReset(Int32(streamID & Self.streamIDMask))
        case 0x4: charge.glitches += HTTPBounds.glitchesPerSettings
        case 0x6: charge.glitches += HTTPBounds.glitchesPerPing
        case 0x7: charge.glitches += HTTPBounds.glitchesPerGoAway
        case 0x8: charge.windowUpdates += 1
        default: charge.glitches += HTTPBounds.glitchesPerOtherFrame
        }
    }

    private mutating func checkOrder(_ charge: inout Charge) {
        let violation = order.take(
            Int32(streamID & Self.streamIDMask), isHeaders: type == 0x1, endsStream: flags & Self.endStreamFlag != 0)
        if let violation, charge.violation == nil { charge.violation = violation }
    }

    /// Notes the end of a frame or of the preface, which is not counted as a frame.
    private mutating func endFrame() {
        guard isPastPreface else {
            isPastPreface = true
            return
        }
        completedFrameCount += 1
    }

    private var dataGlitches: Int {
        if flags & Self.endStreamFlag != 0 { return 0 }
        if length == 0 { return HTTPBounds.glitchesPerEmptyData }
        return flags & Self.paddedFlag != 0 ? HTTPBounds.glitchesPerOtherFrame : 0
    }
}
