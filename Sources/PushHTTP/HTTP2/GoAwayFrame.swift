// SPDX-License-Identifier: Apache-2.0

/// The first GOAWAY of a graceful shutdown, which is written without nghttp2.
///
/// `nghttp2_submit_shutdown_notice` sends it without debug data, which our providers read. `nghttp2_submit_goaway`
/// sends debug data, but makes nghttp2 ignore all later streams, including those that cross the frame on the wire.
///
/// - SeeAlso: RFC 9113, section 6.8
enum GoAwayFrame {
    /// The largest stream identifier that a client can use.
    static let lastStreamIDMax: UInt32 = 0x7FFF_FFFF

    /// Returns the bytes of a GOAWAY frame with NO_ERROR that still allows every stream.
    static func notice(debugData: ArraySlice<UInt8>) -> [UInt8] {
        let length = 8 + debugData.count
        var frame: [UInt8] = [
            UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: length), 0x7, 0, 0, 0, 0, 0,
        ]
        for shift in [24, 16, 8, 0] { frame.append(UInt8(truncatingIfNeeded: lastStreamIDMax >> UInt32(shift))) }
        frame.append(contentsOf: [0, 0, 0, 0])
        frame.append(contentsOf: debugData)
        return frame
    }
}
