// SPDX-License-Identifier: Apache-2.0

/// A place in a JSON text, and the steps from one place to the next.
///
/// Every step checks what it passes over, once, and allocates nothing. The bytes are a parameter and not a property,
/// because only parameters may be spans.
///
/// - SeeAlso: RFC 8259
struct JSONScanner {
    /// The next byte.
    var offset: Int

    /// Begins at a byte.
    init(offset: Int = 0) { self.offset = offset }

    /// The byte at the place; nil at the end.
    @inline(__always)
    func peek(_ bytes: Span<UInt8>) -> UInt8? {
        offset < bytes.count ? bytes[offset] : nil
    }

    /// Passes bytes that the caller has looked at, one unless it says how many.
    @inline(__always)
    mutating func advance(_ byteCount: Int = 1) { offset += byteCount }

    /// What is wrong at the place; at the end of the bytes it is always that they end.
    func failure(_ problem: JSONError.Problem, _ bytes: Span<UInt8>) -> JSONError {
        JSONError(offset: offset, problem: offset < bytes.count ? problem : .endsEarly)
    }

    /// Passes blanks: space, tab, line feed, carriage return.
    @inline(__always)
    mutating func skipBlanks(_ bytes: Span<UInt8>) {
        while offset < bytes.count {
            let byte = bytes[offset]
            // The four blanks are the bits that are set here; one comparison ends most calls.
            guard byte <= 0x20, 0x1_0000_2600 & (1 as UInt64) << UInt64(byte) != 0 else { return }
            offset += 1
        }
    }

    /// Passes a name with its colon and the blanks around them; answers where it stands, without its quotes.
    @discardableResult @inline(__always)
    mutating func skipName(_ bytes: Span<UInt8>) throws(JSONError) -> Range<Int> {
        guard peek(bytes) == UInt8(ascii: "\"") else { throw failure(.isNotName, bytes) }
        let start = offset + 1
        try skipString(bytes)
        let name = start..<offset - 1
        skipBlanks(bytes)
        guard peek(bytes) == UInt8(ascii: ":") else { throw failure(.lacksColon, bytes) }
        advance()
        skipBlanks(bytes)
        return name
    }

    /// Passes `true`, `false` or `null`.
    mutating func skipWord(_ bytes: Span<UInt8>) throws(JSONError) {
        switch peek(bytes) {
        case UInt8(ascii: "t"): try skip("true", bytes)
        case UInt8(ascii: "f"): try skip("false", bytes)
        case UInt8(ascii: "n"): try skip("null", bytes)
        default: throw failure(.isNotValue, bytes)
        }
    }

    /// Passes a number.
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

    /// Passes one digit or more.
    private mutating func skipDigits(_ bytes: Span<UInt8>) throws(JSONError) {
        guard let first = peek(bytes), Decimal.isDigit(first) else { throw failure(.hasBadNumber, bytes) }
        while offset < bytes.count, Decimal.isDigit(bytes[offset]) {
            offset += 1
        }
    }

    /// Passes one of the three words.
    private mutating func skip(_ word: StaticString, _ bytes: Span<UInt8>) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard unsafe peek(bytes) == word.utf8Start[index] else { throw failure(.isNotValue, bytes) }
            advance()
        }
    }
}
