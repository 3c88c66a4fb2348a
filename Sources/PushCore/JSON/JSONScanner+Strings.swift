// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Skips a string with its quotes; the opening quote is at the current offset.
    package mutating func skipString(_ bytes: Span<UInt8>) throws(JSONError) {
        advance()
        while true {
            skipPlainText(bytes)
            guard let byte = peek(bytes) else { throw failure(.endsEarly, bytes) }
            switch byte {
            case UInt8(ascii: "\""):
                advance()
                return
            case UInt8(ascii: "\\"):
                try skipEscape(bytes)
            case 0..<0x20:
                throw failure(.hasControlCharacter, bytes)
            case 0x80...:
                try skipMultiByteScalar(bytes)
            default:
                advance()
            }
        }
    }

    /// Skips unescaped ASCII eight bytes at a time; may stop up to seven bytes early.
    @inline(__always)
    private mutating func skipPlainText(_ bytes: Span<UInt8>) {
        var place = offset
        while bytes.count &- place >= 8 {
            // The loop condition checks the bounds, and every bit pattern is a valid UInt64.
            let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: UInt64.self)
            let special = Self.specialBytes(in: word.littleEndian)
            place &+= special.trailingZeroBitCount / 8
            guard special == 0 else { break }
        }
        offset = place
    }

    /// Sets the top bit of the first byte in a word that is a quote, a backslash, a control character or not ASCII.
    ///
    /// `(x - 0x01…) & ~x & 0x80…` is the usual test for a zero byte. A borrow can set wrong bits only in bytes above
    /// the first match. The lowest set bit is therefore correct, and the caller uses only that one.
    @inline(__always)
    private static func specialBytes(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ ones &* UInt64(UInt8(ascii: "\""))
        let backslashes = word ^ ones &* UInt64(UInt8(ascii: "\\"))
        let isQuote = (quotes &- ones) & ~quotes
        let isBackslash = (backslashes &- ones) & ~backslashes
        let isControl = (word &- ones &* 0x20) & ~word
        return (isQuote | isBackslash | isControl | word) & (ones &* 0x80)
    }

    /// Skips an escape sequence, or both escape sequences of a surrogate pair.
    private mutating func skipEscape(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = offset
        let unit = try readEscape(bytes)
        switch unit {
        case 0xD800..<0xDC00:
            guard let next = peek(bytes) else { throw failure(.endsEarly, bytes) }
            guard next == UInt8(ascii: "\\"), case 0xDC00..<0xE000 = try readEscape(bytes) else {
                throw JSONError(offset: start, problem: .hasLoneSurrogate)
            }
        case 0xDC00..<0xE000:
            throw JSONError(offset: start, problem: .hasLoneSurrogate)
        default:
            return
        }
    }

    /// Skips one escape sequence, whose backslash is at the current offset, and returns its UTF-16 code unit.
    package mutating func readEscape(_ bytes: Span<UInt8>) throws(JSONError) -> UInt16 {
        advance()
        guard let letter = peek(bytes), let unit = Self.escapedUnit(letter) else { throw failure(.hasBadEscape, bytes) }
        advance()
        guard letter == UInt8(ascii: "u") else { return unit }
        var digits: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek(bytes), let digit = Hex.value(of: byte) else { throw failure(.hasBadEscape, bytes) }
            digits = digits << 4 | UInt16(digit)
            advance()
        }
        return digits
    }

    /// Returns the code unit for the character after a backslash; 0 for `u`, nil for an invalid escape.
    private static func escapedUnit(_ letter: UInt8) -> UInt16? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): UInt16(letter)
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        case UInt8(ascii: "u"): 0
        default: nil
        }
    }

    /// Skips a scalar of two to four bytes of UTF-8: shortest form only, no surrogates, nothing above U+10FFFF.
    ///
    /// - Parameter bytes: The text, with a non-ASCII byte at the current offset.
    /// - Throws: `JSONError`, when the bytes are not valid UTF-8.
    /// - SeeAlso: The Unicode Standard, table 3-7
    private mutating func skipMultiByteScalar(_ bytes: Span<UInt8>) throws(JSONError) {
        let first = bytes[offset]
        switch first {
        case 0xC2...0xDF: try skipContinuations(1, second: 0x80...0xBF, bytes)
        case 0xE0: try skipContinuations(2, second: 0xA0...0xBF, bytes)
        case 0xED: try skipContinuations(2, second: 0x80...0x9F, bytes)
        case 0xE1...0xEF: try skipContinuations(2, second: 0x80...0xBF, bytes)
        case 0xF0: try skipContinuations(3, second: 0x90...0xBF, bytes)
        case 0xF1...0xF3: try skipContinuations(3, second: 0x80...0xBF, bytes)
        case 0xF4: try skipContinuations(3, second: 0x80...0x8F, bytes)
        default: throw failure(.hasBadUTF8, bytes)
        }
    }

    /// Skips a lead byte and its continuation bytes; the range of the second byte depends on the lead byte.
    @inline(__always)
    private mutating func skipContinuations(
        _ count: Int, second: ClosedRange<UInt8>, _ bytes: Span<UInt8>
    ) throws(JSONError) {
        advance()
        guard let byte = peek(bytes), second.contains(byte) else { throw failure(.hasBadUTF8, bytes) }
        advance()
        for _ in 1..<count {
            guard let byte = peek(bytes), byte & 0xC0 == 0x80 else { throw failure(.hasBadUTF8, bytes) }
            advance()
        }
    }
}
