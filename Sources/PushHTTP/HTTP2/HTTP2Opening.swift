// SPDX-License-Identifier: Apache-2.0

/// The start of an HTTP/2 connection, until the peer sends a frame that needs nghttp2.
///
/// An nghttp2 session takes some 10 KiB, and a peer that opens connections and asks for nothing should not get them. So
/// the frames that each connection begins with are answered here, and the session is made for the first other frame.
///
/// ```
/// preface ──▶ SETTINGS, its acknowledgement, one WINDOW_UPDATE, some PINGs ──▶ any other frame, or an invalid one: over
/// ```
///
/// An invalid frame is left to nghttp2, which knows the right error.
///
/// - SeeAlso: RFC 9113, section 3.4
final class HTTP2Opening {
    /// The frames that a connection may send once each.
    private struct Seen {
        var settings = false
        var acknowledgement = false
        var windowUpdate = false
    }

    private static let headerByteCount = 9
    private static let settingsEntryByteCount = 6
    private static let preface = ProtocolDetector.preface
    private static let windowMax: UInt32 = 0x7FFF_FFFF

    /// Output that was not collected yet: whole frames.
    private(set) var output: [UInt8]
    /// The preface and the frames that nghttp2 must get too, then a frame that is incomplete or not answered here.
    private var received: [UInt8] = []
    /// The end of what was answered, in `received`.
    private var answeredByteCount = 0
    private var pingCount = 0
    private var seen = Seen()

    /// Whether nothing was sent or received.
    private var isNew = true

    /// Begins with the server's SETTINGS and WINDOW_UPDATE as output.
    init(_ limits: HTTPSessionLimits) {
        output = SettingsFrame.first(limits, streamCount: limits.advertisedStreamCount)
    }

    /// Changes the stream limit in the first SETTINGS; false when they may be out already.
    func advertise(_ streamCount: Int, _ limits: HTTPSessionLimits) -> Bool {
        guard isNew else { return false }
        output = SettingsFrame.first(limits, streamCount: streamCount)
        return true
    }

    /// The bytes that nghttp2 must get without sending anything for them.
    var answered: ArraySlice<UInt8> { received[..<answeredByteCount] }
    /// The bytes that nghttp2 must get and answer.
    var unanswered: ArraySlice<UInt8> { received[answeredByteCount...] }

    /// Returns the output, which is then empty.
    func takeOutput() -> [UInt8] {
        defer { (output, isNew) = ([], false) }
        return output
    }

    /// Takes bytes from the peer.
    ///
    /// - Parameter bytes: A piece of any size.
    /// - Returns: Whether all frames so far are answered or incomplete; false when nghttp2 must take over.
    func take(_ bytes: Span<UInt8>) -> Bool {
        isNew = false
        for index in bytes.indices { received.append(bytes[index]) }
        guard answeredByteCount > 0 || takePreface() else { return isPrefaceSoFar }
        while received.count - answeredByteCount >= Self.headerByteCount {
            switch takeFrame() {
            case .answered: continue
            case .incomplete: return true
            case .over: return false
            }
        }
        return received.count <= HTTPBounds.openingByteCountMax
    }

    private var isPrefaceSoFar: Bool {
        received.count < Self.preface.utf8CodeUnitCount && zip(received, Self.prefaceBytes).allSatisfy(==)
    }

    private static let prefaceBytes = unsafe Array(
        UnsafeBufferPointer(start: preface.utf8Start, count: preface.utf8CodeUnitCount))

    /// Notes the preface once it is complete.
    private func takePreface() -> Bool {
        guard received.starts(with: Self.prefaceBytes) else { return false }
        answeredByteCount = Self.prefaceBytes.count
        return true
    }

    private enum Result { case answered, incomplete, over }

    /// Looks at the next frame, whose header is complete.
    private func takeFrame() -> Result {
        let start = answeredByteCount
        let length = Int(received[start]) << 16 | Int(received[start + 1]) << 8 | Int(received[start + 2])
        let end = start + Self.headerByteCount + length
        let isOfConnection = received[(start + 5)..<(start + 9)].allSatisfy { $0 == 0 }
        guard isOfConnection, end <= HTTPBounds.openingByteCountMax else { return .over }
        let (type, flags) = (received[start + 3], received[start + 4])
        guard expects(type, flags, length: length) else { return .over }
        guard received.count >= end else { return .incomplete }
        return answer(type, flags, payload: (start + Self.headerByteCount)..<end) ? .answered : .over
    }

    /// Returns whether a frame of this form may come now.
    private func expects(_ type: UInt8, _ flags: UInt8, length: Int) -> Bool {
        switch (type, flags) {
        case (0x4, 0):
            !seen.settings && length.isMultiple(of: Self.settingsEntryByteCount)
                && length <= HTTPBounds.settingsEntryCountMax * Self.settingsEntryByteCount
        case (0x4, 1): seen.settings && !seen.acknowledgement && length == 0
        case (0x6, 0): seen.settings && length == 8 && pingCount < HTTPBounds.openingPingCountMax
        case (0x8, 0): seen.settings && !seen.windowUpdate && length == 4
        default: false
        }
    }

    /// Answers a complete frame; false when its payload is invalid.
    private func answer(_ type: UInt8, _ flags: UInt8, payload: Range<Int>) -> Bool {
        switch type {
        case 0x4 where flags == 0:
            guard areSettingsValid(payload) else { return false }
            seen.settings = true
            output += SettingsFrame.acknowledgement
        case 0x4: seen.acknowledgement = true
        case 0x6:
            pingCount += 1
            output += [0, 0, 8, 0x6, 1, 0, 0, 0, 0] + received[payload]
            // nghttp2 would answer it a second time.
            received.removeSubrange(answeredByteCount..<payload.upperBound)
            return true
        default:
            let increment = number(at: payload.lowerBound) & Self.windowMax
            guard increment > 0, increment <= Self.windowMax - SettingsFrame.defaultWindowByteCount else {
                return false
            }
            seen.windowUpdate = true
        }
        answeredByteCount = payload.upperBound
        return true
    }

    /// Returns whether nghttp2 accepts each value of a SETTINGS frame.
    ///
    /// - SeeAlso: RFC 9113, section 6.5.2; RFC 8441, section 3; RFC 9218, section 2.1
    private func areSettingsValid(_ payload: Range<Int>) -> Bool {
        for start in stride(from: payload.lowerBound, to: payload.upperBound, by: Self.settingsEntryByteCount) {
            let value = number(at: start + 2)
            switch Int(received[start]) << 8 | Int(received[start + 1]) {
            case 0x2, 0x8, 0x9: guard value <= 1 else { return false }
            case 0x4: guard value <= Self.windowMax else { return false }
            case 0x5: guard (16_384...16_777_215).contains(value) else { return false }
            default: break
            }
        }
        return true
    }

    private func number(at index: Int) -> UInt32 {
        received[index..<(index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
