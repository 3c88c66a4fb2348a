// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

/// Overwrites the stream limit in our SETTINGS frames with a number that nghttp2 does not know.
///
/// - SeeAlso: RFC 9113, section 6.5.1
enum SettingsFrame {
    /// The stream limit that nghttp2 enforces, which is higher than any peer reaches.
    static let streamCountOfLibrary: UInt32 = 1 << 30

    private static let headerByteCount = 9
    private static let entryByteCount = 6
    /// The size of a connection's window before any WINDOW_UPDATE (RFC 9113, section 6.9.2).
    static let defaultWindowByteCount: UInt32 = 65_535

    /// The frame that acknowledges the peer's SETTINGS.
    static let acknowledgement: [UInt8] = [0, 0, 0, 0x4, 0x1, 0, 0, 0, 0]

    /// Returns the frames that a server begins with, equal to those of nghttp2 after `HTTP2Session.submitSettings`.
    ///
    /// - Parameters:
    ///   - limits: The limits to advertise.
    ///   - streamCount: The stream limit to advertise.
    /// - Returns: SETTINGS and the WINDOW_UPDATE of the connection.
    static func first(_ limits: HTTPSessionLimits, streamCount: Int) -> [UInt8] {
        let entries: [(id: UInt8, value: UInt32)] = [
            (0x1, HTTPBounds.headerTableByteCount), (0x3, UInt32(clamping: max(streamCount, 1))),
            (0x6, limits.advertisedHeaderListByteCountMax),
        ]
        var frames: [UInt8] = [0, 0, UInt8(entries.count * entryByteCount), 0x4, 0, 0, 0, 0, 0]
        for entry in entries { frames += [0, entry.id] + bigEndian(entry.value) }
        frames += [0, 0, 4, 0x8, 0, 0, 0, 0, 0]
        return frames + bigEndian(UInt32(HTTPBounds.connectionWindowByteCount) - defaultWindowByteCount)
    }

    /// Returns the entries that nghttp2 gets, with a stream limit that no peer reaches.
    static func libraryEntries(_ limits: HTTPSessionLimits) -> [nghttp2_settings_entry] {
        [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue),
                value: HTTPBounds.headerTableByteCount),
            libraryStreamEntry,
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
                value: limits.advertisedHeaderListByteCountMax),
        ]
    }

    /// The stream limit that nghttp2 gets.
    static var libraryStreamEntry: nghttp2_settings_entry {
        nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: streamCountOfLibrary)
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    /// Replaces nghttp2's stream limit in a SETTINGS frame that is not an acknowledgement; leaves any other frame
    /// unchanged.
    ///
    /// - Parameters:
    ///   - streamCount: The stream limit that the peer sees.
    ///   - bytes: The output, which ends with one whole frame.
    ///   - start: The position at which that frame begins.
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
