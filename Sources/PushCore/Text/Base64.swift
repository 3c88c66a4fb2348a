// SPDX-License-Identifier: Apache-2.0

/// Encodes base64 in both alphabets, and decodes it strictly.
///
/// Each byte string has exactly one text in each alphabet, with or without padding. The decoder rejects any other text,
/// so unused trailing bits must be zero.
/// - SeeAlso: RFC 4648, sections 3.5, 4 and 5
package enum Base64 {
    /// Decodes the standard or the URL alphabet, with complete padding or without any.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        guard let digitCount = digitCount(of: text) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digitCount / 4 * 3 + 2)
        var bits: UInt32 = 0
        var bitCount = 0
        for offset in 0..<digitCount {
            guard let value = value(of: text[offset]) else { return nil }
            bits = (bits << 6 | UInt32(value)) & 0xFFFF
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        let strayBits = bits & (1 << UInt32(bitCount) - 1)
        return strayBits == 0 ? bytes : nil
    }

    /// Encodes with the URL alphabet, without padding.
    package static func encodeURL(_ bytes: Span<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.append(addingCapacity: byteCount(bytes.count)) { append(bytes, alphabet: .url, to: &$0) }
        return output
    }

    /// Encodes with the standard alphabet and padding.
    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var output: [UInt8] = []
        output.append(addingCapacity: byteCount(bytes.count)) { append(bytes, to: &$0) }
        return output
    }

    /// Returns the number of characters, including the padding, for this number of bytes.
    package static func byteCount(_ decodedByteCount: Int) -> Int { (decodedByteCount + 2) / 3 * 4 }

    /// Appends the encoding with the standard alphabet and padding to space for at least `byteCount` bytes.
    package static func append(_ bytes: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        append(bytes, alphabet: .standard, to: &output)
        output.append(repeating: Self.padding, count: (3 - bytes.count % 3) % 3)
    }

    private enum Alphabet {
        case standard, url
    }

    private static let padding = UInt8(ascii: "=")

    /// Returns the number of digits before the padding; nil if the length or the padding is invalid.
    private static func digitCount(of text: Span<UInt8>) -> Int? {
        var digitCount = text.count
        while digitCount > 0, text.count - digitCount < 2, text[digitCount - 1] == padding {
            digitCount -= 1
        }
        let isPadded = digitCount < text.count
        guard digitCount % 4 != 1, !isPadded || text.count.isMultiple(of: 4) else { return nil }
        return digitCount
    }

    /// Returns the six-bit value of a digit of either alphabet.
    @inline(__always)
    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// Appends the digits of all bytes, without padding.
    private static func append(_ bytes: Span<UInt8>, alphabet: Alphabet, to output: inout OutputSpan<UInt8>) {
        var bits: UInt32 = 0
        var bitCount = 0
        for offset in bytes.indices {
            bits = (bits << 8 | UInt32(bytes[offset])) & 0xFFFF
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                output.append(digit(UInt8(bits >> UInt32(bitCount) & 0x3F), alphabet))
            }
        }
        if bitCount > 0 {
            output.append(digit(UInt8(bits << UInt32(6 - bitCount) & 0x3F), alphabet))
        }
    }

    /// Returns the digit of a value below 64.
    @inline(__always)
    private static func digit(_ value: UInt8, _ alphabet: Alphabet) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: alphabet == .url ? UInt8(ascii: "-") : UInt8(ascii: "+")
        default: alphabet == .url ? UInt8(ascii: "_") : UInt8(ascii: "/")
        }
    }
}
