// SPDX-License-Identifier: Apache-2.0

/// Operations of the codecs on text bytes; identifiers are always compared as bytes.
extension Span<UInt8> {
    /// Returns whether the bytes equal those of a word.
    package func isEqual(to word: String) -> Bool {
        let wordBytes = word.utf8.span
        guard count == wordBytes.count else { return false }
        for offset in indices where self[offset] != wordBytes[offset] {
            return false
        }
        return true
    }

    /// Returns whether the bytes equal those of a literal.
    package func equals(_ literal: StaticString) -> Bool {
        count == literal.utf8CodeUnitCount && contains(literal, at: 0)
    }

    /// Returns whether the bytes of a literal begin at an offset.
    func contains(_ literal: StaticString, at offset: Int) -> Bool {
        let byteCount = literal.utf8CodeUnitCount
        guard count - offset >= byteCount else { return false }
        let expected = unsafe UnsafeRawPointer(literal.utf8Start)
        // In bounds: the guard has checked the length, and every bit pattern is a valid UInt64.
        var index = 0
        while byteCount &- index >= 8 {
            let word = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ index, as: UInt64.self)
            guard unsafe word == expected.loadUnaligned(fromByteOffset: index, as: UInt64.self) else { return false }
            index &+= 8
        }
        while index < byteCount {
            guard unsafe self[unchecked: offset &+ index] == expected.load(fromByteOffset: index, as: UInt8.self) else {
                return false
            }
            index &+= 1
        }
        return true
    }

    /// Returns whether the bytes equal those of a lowercase ASCII word, ignoring ASCII case.
    package func isEqualIgnoringCase(to lowerCaseWord: String) -> Bool {
        let wordBytes = lowerCaseWord.utf8.span
        guard count == wordBytes.count else { return false }
        for offset in indices where self[offset].lowerCased != wordBytes[offset] {
            return false
        }
        return true
    }

    /// The text; nil if the bytes are not valid UTF-8.
    package var text: String? {
        guard let text = try? UTF8Span(validating: self) else { return nil }
        return String(copying: text)
    }
}

extension UInt8 {
    /// The lowercase form of an ASCII uppercase letter; any other byte unchanged.
    @inline(__always)
    package var lowerCased: UInt8 {
        UInt8(ascii: "A") <= self && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }

    /// Whether the byte is an ASCII letter or digit.
    @inline(__always)
    package var isLetterOrDigit: Bool {
        Decimal.isDigit(self) || (self | 0x20) &- UInt8(ascii: "a") < 26
    }
}

extension [UInt8] {
    /// Appends all bytes of a span.
    package mutating func append(_ bytes: Span<UInt8>) {
        // This copies all bytes in one call; the array copies them before the call returns.
        unsafe bytes.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
    }

    /// Appends the UTF-8 of a text.
    package mutating func append(_ text: String) {
        append(contentsOf: text.utf8)
    }

    /// Appends a string literal: one copy of its bytes, without the overhead of a `String`.
    package mutating func append(literal text: StaticString) {
        // A `StaticString` lives as long as the program.
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
