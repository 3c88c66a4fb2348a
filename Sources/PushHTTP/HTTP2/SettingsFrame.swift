// SPDX-License-Identifier: Apache-2.0

/// Writes another number of streams into our SETTINGS than nghttp2 knows.
///
/// - SeeAlso: RFC 9113, section 6.5.1
enum SettingsFrame {
    /// What nghttp2 enforces: more than anyone opens.
    static let streamCountOfLibrary: UInt32 = 1 << 30

    private static let headerByteCount = 9
    private static let entryByteCount = 6

    /// Replaces nghttp2's number in a SETTINGS frame that is no acknowledgement; leaves any other frame alone.
    ///
    /// - Parameters:
    ///   - streamCount: What the peer is told.
    ///   - bytes: Output, which ends with one whole frame.
    ///   - start: Where that frame begins.
    static func advertise(_ streamCount: Int, in bytes: inout [UInt8], from start: Int) {
        guard bytes.count >= start + headerByteCount, bytes[start + 3] == 0x4, bytes[start + 4] & 0x1 == 0 else {
            return
        }
        var entry = start + headerByteCount
        while entry + entryByteCount <= bytes.count {
            if bytes[entry] == 0, bytes[entry + 1] == 0x3 {
                let value = UInt32(clamping: max(streamCount, 1))
                for index in 0..<4 {
                    bytes[entry + 2 + index] = UInt8(truncatingIfNeeded: value >> UInt32(24 - 8 * index))
                }
            }
            entry += entryByteCount
        }
    }
}
