// SPDX-License-Identifier: Apache-2.0

/// A position in a JSON text, with the operations that advance it.
///
/// Each operation validates the bytes that it skips in one pass and allocates nothing. The bytes are a parameter and
/// not a property, because a span can only be a parameter here.
///
/// - SeeAlso: RFC 8259
package struct JSONScanner {
    /// The offset of the next byte.
    package var offset: Int

    package init(offset: Int = 0) { self.offset = offset }

    /// Returns the byte at the current offset; nil at the end.
    @inline(__always)
    package func peek(_ bytes: Span<UInt8>) -> UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    /// Advances over bytes that the caller has examined.
    @inline(__always)
    package mutating func advance(_ byteCount: Int = 1) { offset += byteCount }

    /// Advances over a literal; returns false if other bytes follow.
    package mutating func take(_ literal: StaticString, _ bytes: Span<UInt8>) -> Bool {
        guard bytes.contains(literal, at: offset) else { return false }
        offset += literal.utf8CodeUnitCount
        return true
    }

    /// Returns an error at the current offset; at the end of the bytes the problem is always `endsEarly`.
    package func failure(_ problem: JSONError.Problem, _ bytes: Span<UInt8>) -> JSONError {
        JSONError(offset: offset, problem: offset < bytes.count ? problem : .endsEarly)
    }

    /// Skips whitespace: space, tab, line feed, carriage return.
    @inline(__always)
    package mutating func skipBlanks(_ bytes: Span<UInt8>) {
        _ = peekBehindBlanks(bytes)
    }

    /// Skips whitespace and returns the byte behind it; nil at the end.
    @inline(__always)
    mutating func peekBehindBlanks(_ bytes: Span<UInt8>) -> UInt8? {
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte > 0x20 || !Self.isBlank(byte) { return byte }
            offset += 1
        }
        return nil
    }

    /// Returns whether a byte up to 0x20 is whitespace.
    @inline(__always)
    private static func isBlank(_ byte: UInt8) -> Bool {
        // The constant has one bit for each of the four whitespace bytes.
        0x1_0000_2600 & (1 as UInt64) << UInt64(byte) != 0
    }

    /// Skips a name with its colon and the surrounding whitespace; returns the name's range without its quotes.
    @discardableResult @inline(__always)
    package mutating func skipName(_ bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        guard peek(bytes) == UInt8(ascii: "\"") else { throw failure(.isNotName, bytes) }
        let start = offset + 1
        try skipString(bytes)
        let name = start..<offset - 1
        guard peekBehindBlanks(bytes) == UInt8(ascii: ":") else { throw failure(.lacksColon, bytes) }
        advance()
        skipBlanks(bytes)
        return name
    }

    /// Skips `true`, `false` or `null`.
    mutating func skipWord(_ bytes: Span<UInt8>) throws(JSONError) {
        switch peek(bytes) {
        case UInt8(ascii: "t"): try skip("true", bytes)
        case UInt8(ascii: "f"): try skip("false", bytes)
        case UInt8(ascii: "n"): try skip("null", bytes)
        default: throw failure(.isNotValue, bytes)
        }
    }

    /// Skips a number.
    mutating func skipNumber(_ bytes: Span<UInt8>) throws(JSONError) {
        if peek(bytes) == UInt8(ascii: "-") { advance() }
        if peek(bytes) == UInt8(ascii: "0") {
            advance()
        } else {
            try skipDigits(bytes)
        }
        if peek(bytes) == UInt8(ascii: ".") {
            advance()
            try skipDigits(bytes)
        }
        guard let byte = peek(bytes), byte.lowerCased == UInt8(ascii: "e") else { return }
        advance()
        if let sign = peek(bytes), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { advance() }
        try skipDigits(bytes)
    }

    /// Advances over an integer without sign, and returns it; nil if it is 0, negative, or too large for an Int64.
    package mutating func takePositiveInteger(_ bytes: Span<UInt8>) -> Int64? {
        let start = offset
        guard peek(bytes) != UInt8(ascii: "0") else { return nil }
        while let byte = peek(bytes), Decimal.isDigit(byte) { advance() }
        return Decimal.parse(bytes.extracting(start..<offset))
    }

    /// Skips one or more digits.
    private mutating func skipDigits(_ bytes: Span<UInt8>) throws(JSONError) {
        guard let first = peek(bytes), Decimal.isDigit(first) else { throw failure(.hasBadNumber, bytes) }
        while offset < bytes.count, Decimal.isDigit(bytes[offset]) {
            offset += 1
        }
    }

    /// Skips the given literal.
    private mutating func skip(_ word: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard unsafe peek(bytes) == word.utf8Start[index] else { throw failure(.isNotValue, bytes) }
            advance()
        }
    }
}
