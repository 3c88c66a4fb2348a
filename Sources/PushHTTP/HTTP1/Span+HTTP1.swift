// SPDX-License-Identifier: Apache-2.0

// The character classes of RFC 9110, section 5.6, and RFC 9112, section 3.

extension UInt8 {
    /// Whether this byte is `0` to `9`.
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }

    /// Whether this byte is an ASCII letter, lower-case or capital.
    var isLetter: Bool { asciiLowercased >= 0x61 && asciiLowercased <= 0x7A }

    /// Whether this byte may occur in a method or a field's name (`tchar`).
    var isTokenCharacter: Bool {
        if isDigit || isLetter { return true }
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            return true
        default: return false
        }
    }

    /// The value of a hexadecimal digit; nil for any other byte.
    var hexadecimalValue: Int? {
        if isDigit { return Int(self) - 0x30 }
        let letter = asciiLowercased
        return letter >= 0x61 && letter <= 0x66 ? Int(letter) - 0x57 : nil
    }

    /// Whether this byte is not a control character; a tab is allowed.
    fileprivate var isFieldCharacter: Bool { (self >= 0x20 && self != 0x7F) || self == 0x09 }

    /// Whether this byte is a space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether this byte is ASCII, and neither a space nor a control character.
    fileprivate var isVisibleASCII: Bool { self >= 0x21 && self <= 0x7E }
}

extension UInt64 {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    /// A mask with the highest bit of each byte.
    fileprivate static let highBits = ones &* 0x80

    /// A mask with a byte's highest bit set if any of these eight bytes is a control character, including tab; ignore
    /// other bits.
    ///
    /// The subtraction sets the highest bit of a byte below 0x20, and the addition that of DEL; bytes that already had
    /// that bit are masked out. A borrow or carry can only falsify the result for the byte above. A borrow comes from a
    /// control character, so the result is already true. A carry comes from 0xFF, and may mark a tilde.
    fileprivate var controlCharacterMarks: UInt64 {
        ((self &- Self.ones &* 0x20) | (self &+ Self.ones)) & ~self
    }
}

extension UInt64 {
    /// Whether each of these eight bytes is `a` to `z` or a hyphen.
    ///
    /// For ASCII bytes, adding 0x80 - x sets the highest bit exactly if the byte is at least x, and never carries.
    fileprivate var isLowercaseWords: Bool {
        guard self & Self.highBits == 0 else { return false }
        let isLetter = (self &+ Self.ones &* (0x80 - 0x61)) & ~(self &+ Self.ones &* (0x80 - 0x7B))
        let isHyphen = ~((self ^ Self.ones &* 0x2D) &+ Self.ones &* 0x7F)
        return (isLetter | isHyphen) & Self.highBits == Self.highBits
    }
}

extension Span where Element == UInt8 {
    /// Whether these bytes are a token: at least one byte, and each is a token character.
    var isToken: Bool { count > 0 && allSatisfy(\.isTokenCharacter) }

    /// Whether each byte may occur in a field's value: no control character except tab.
    ///
    /// Values are long and all of them are checked, so bytes are checked one by one only if a control character was
    /// found.
    var isFieldValue: Bool { !hasControlCharacter || allSatisfy(\.isFieldCharacter) }

    /// Whether any byte is a control character, including tab; perhaps also true for a tilde behind 0xFF.
    ///
    /// Checks eight bytes at a time, the last ones perhaps twice.
    private var hasControlCharacter: Bool {
        guard count >= 8 else { return !allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        // Nearly every value has none, so an early exit gains nothing, and without it several words are checked in
        // parallel.
        var marks = word(at: count - 8).controlCharacterMarks
        for index in 0..<count / 8 { marks |= word(at: 8 &* index).controlCharacterMarks }
        return marks & UInt64.highBits != 0
    }

    private func word(at index: Int) -> UInt64 {
        // In bounds: the caller has checked that eight bytes are left.
        unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: index, as: UInt64.self) }
    }

    /// Whether no byte is NUL, LF or CR.
    var isWithoutLineEnds: Bool { !hasControlCharacter || allSatisfy { $0 != 0x00 && $0 != 0x0A && $0 != 0x0D } }

    /// Whether these bytes are lower-case letters and hyphens, as in nearly all field names; checks eight bytes at a
    /// time.
    var isLowercaseWords: Bool {
        guard count >= 8 else { return allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x2D } }
        var index = 0
        while index + 8 < count {
            if !word(at: index).isLowercaseWords { return false }
            index += 8
        }
        return word(at: count - 8).isLowercaseWords
    }

    /// Whether each byte is a visible ASCII character.
    var isVisibleASCII: Bool { allSatisfy(\.isVisibleASCII) }

    /// Whether these bytes can be a host with or without a port; only the characters are checked.
    var isAuthority: Bool {
        allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"),
                UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"),
                UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
                false
            default: byte.isVisibleASCII
            }
        }
    }

    /// Returns a range without the spaces and tabs at its ends.
    func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }

    /// The value of these 1 to 18 decimal digits; nil for anything else.
    var decimal: Int? {
        guard count >= 1, count <= 18, allSatisfy(\.isDigit) else { return nil }
        var number = 0
        for index in 0..<count { number = number * 10 + Int(self[index] - 0x30) }
        return number
    }

    /// Returns the index of the first occurrence of a byte at or after `start`.
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Returns whether a comma-separated list contains this lower-case element, ignoring the case of ASCII letters.
    func listContains(_ element: StaticString) -> Bool {
        var start = 0
        while start <= count {
            let end = firstIndex(of: UInt8(ascii: ","), from: start) ?? count
            if extracting(trimmingBlanks(start..<end)).equalsIgnoringCase(element) { return true }
            start = end + 1
        }
        return false
    }

    /// The position at which the authority of an absolute `http` or `https` target begins.
    var startOfAuthority: Int? {
        for scheme: StaticString in ["http://", "https://"] {
            let length = scheme.utf8CodeUnitCount
            if count > length, extracting(0..<length).equalsIgnoringCase(scheme) { return length }
        }
        return nil
    }

    /// Returns whether every byte satisfies the predicate.
    func allSatisfy(_ predicate: (UInt8) -> Bool) -> Bool {
        // In bounds: the loop ends at `count`.
        for index in 0..<count where unsafe !predicate(self[unchecked: index]) { return false }
        return true
    }
}
