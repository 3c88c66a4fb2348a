// SPDX-License-Identifier: Apache-2.0

/// What the codecs need of bytes that are text; identifiers are always compared as bytes.
extension Span<UInt8> {
    /// Whether the bytes are those of a word.
    func isEqual(to word: String) -> Bool {
        let wordBytes = word.utf8.span
        guard count == wordBytes.count else { return false }
        for offset in indices where self[offset] != wordBytes[offset] {
            return false
        }
        return true
    }

    /// Whether the bytes are those of a lower-case ASCII word, when upper-case ASCII letters count as lower-case ones.
    func isEqualIgnoringCase(to lowerCaseWord: String) -> Bool {
        let wordBytes = lowerCaseWord.utf8.span
        guard count == wordBytes.count else { return false }
        for offset in indices where self[offset].lowerCased != wordBytes[offset] {
            return false
        }
        return true
    }

    /// The text, or nil when the bytes are not valid UTF-8.
    var text: String? {
        guard let text = try? UTF8Span(validating: self) else { return nil }
        return String(copying: text)
    }
}

extension UInt8 {
    /// The lower-case letter of an upper-case ASCII letter; any other byte unchanged.
    @inline(__always)
    var lowerCased: UInt8 {
        UInt8(ascii: "A") <= self && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }

    /// Whether it is a letter or a digit of ASCII.
    @inline(__always)
    var isLetterOrDigit: Bool {
        Decimal.isDigit(self) || (self | 0x20) &- UInt8(ascii: "a") < 26
    }
}

extension [UInt8] {
    /// Appends all bytes of a span.
    mutating func append(_ bytes: Span<UInt8>) {
        // One copy of the whole; the array takes the buffer's bytes before the call returns.
        unsafe bytes.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
    }

    /// Appends the UTF-8 of a text.
    mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    /// Appends a text that stands in the program: one copy of its bytes, and none of the work of a `String`.
    mutating func append(literal text: StaticString) {
        // It lives as long as the program.
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Makes room for more bytes at once; grows at least twofold, so that calling it often stays cheap.
    mutating func reserveAdditional(_ byteCount: Int) {
        guard count + byteCount > capacity else { return }
        reserveCapacity(Swift.max(count + byteCount, 2 * capacity))
    }
}
