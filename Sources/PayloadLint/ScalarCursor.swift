// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Iterates over the scalars of a text in JSON with escapes resolved, without copying it.
///
/// The bytes are validated before. Invalid bytes give replacement characters and never trap.
struct ScalarCursor {
    /// The offset of the next byte.
    private(set) var offset: Int
    private let end: Int
    /// Whether a backslash begins an escape sequence.
    private let isEscaped: Bool

    /// Creates a cursor at the start of a range of bytes.
    init(_ range: Range<Int>, isEscaped: Bool = true) {
        offset = range.lowerBound
        end = range.upperBound
        self.isEscaped = isEscaped
    }

    /// Returns the next scalar; nil at the end.
    @inline(__always)
    mutating func next(_ bytes: Span<UInt8>) -> Unicode.Scalar? {
        guard offset < end, offset < bytes.count else { return nil }
        let byte = bytes[offset]
        offset += 1
        guard byte >= 0x80 || byte == UInt8(ascii: "\\") else { return Unicode.Scalar(byte) }
        return nextOther(byte, bytes)
    }

    /// Skips a run of ASCII letters and digits; returns nil for an empty run and for one too long for a packed text.
    @inline(__always)
    mutating func nextRun(_ bytes: Span<UInt8>) -> Range<Int>? {
        let end = min(end, bytes.count)
        var place = offset
        while place < end, bytes[place].isLetterOrDigit { place += 1 }
        guard place > offset, place - offset <= PackedText.byteCountMax else { return nil }
        defer { offset = place }
        return offset..<place
    }

    /// Returns the scalar that begins with a backslash or a non-ASCII byte.
    private mutating func nextOther(_ first: UInt8, _ bytes: Span<UInt8>) -> Unicode.Scalar {
        if first < 0x80 { return isEscaped ? nextEscaped(bytes) : "\\" }
        let count = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
        var value = UInt32(first) & (0x3F >> UInt32(count))
        for _ in 0..<count {
            guard offset < end, offset < bytes.count else { break }
            value = value << 6 | UInt32(bytes[offset] & 0x3F)
            offset += 1
        }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// Returns the scalar of an escape sequence after its backslash, or of both halves of a surrogate pair.
    private mutating func nextEscaped(_ bytes: Span<UInt8>) -> Unicode.Scalar {
        guard let unit = readUnit(bytes) else { return "\u{FFFD}" }
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
        guard offset < end, offset < bytes.count, bytes[offset] == UInt8(ascii: "\\") else { return "\u{FFFD}" }
        offset += 1
        guard let trail = readUnit(bytes), UTF16.isTrailSurrogate(trail) else { return "\u{FFFD}" }
        let value = 0x10000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(trail) & 0x3FF
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// Returns the UTF-16 code unit of an escape sequence after its backslash.
    private mutating func readUnit(_ bytes: Span<UInt8>) -> UInt16? {
        var scanner = JSONScanner(offset: offset - 1)
        guard let unit = try? scanner.readEscape(bytes), scanner.offset <= end else { return nil }
        offset = scanner.offset
        return unit
    }
}
