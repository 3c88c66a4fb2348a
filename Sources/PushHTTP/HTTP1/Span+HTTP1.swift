// SPDX-License-Identifier: Apache-2.0

// The character classes of RFC 9110, section 5.6, and RFC 9112, section 3.

extension UInt8 {
    /// `0` to `9`.
    var isDigit: Bool { self >= 0x30 && self <= 0x39 }

    /// `a` to `z`, small or capital.
    var isLetter: Bool { asciiLowercased >= 0x61 && asciiLowercased <= 0x7A }

    /// A character of a method or a field's name (`tchar`).
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

    /// The value of a hexadecimal digit.
    var hexadecimalValue: Int? {
        if isDigit { return Int(self) - 0x30 }
        let letter = asciiLowercased
        return letter >= 0x61 && letter <= 0x66 ? Int(letter) - 0x57 : nil
    }

    /// Neither a control character nor DEL, but maybe a tab.
    fileprivate var isFieldCharacter: Bool { (self >= 0x20 && self != 0x7F) || self == 0x09 }

    /// A space or a tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Neither a blank nor a control character, and below 0x80.
    fileprivate var isVisibleASCII: Bool { self >= 0x21 && self <= 0x7E }
}

extension UInt64 {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    /// The highest bit of each byte.
    fileprivate static let highBits = ones &* 0x80

    /// Has a high bit where one of these eight bytes is a control character, the tab included; other bits say nothing.
    ///
    /// A byte below the space borrows in the subtraction, which sets its highest bit; one that had that bit is masked out. A
    /// borrow can only deceive about the byte above, and then the answer is yes already. DEL is found as zero is, after XOR.
    fileprivate var controlCharacterMarks: UInt64 {
        let fromDelete = self ^ (Self.ones &* 0x7F)
        return (self &- Self.ones &* 0x20) & ~self | (fromDelete &- Self.ones) & ~fromDelete
    }
}

extension UInt64 {
    /// Whether each of these eight bytes is `a` to `z` or a hyphen.
    ///
    /// Where all are ASCII, a sum of two has the highest bit when the byte is at least 0x80 less the other, and never carries.
    fileprivate var isLowercaseWords: Bool {
        guard self & Self.highBits == 0 else { return false }
        let isLetter = (self &+ Self.ones &* (0x80 - 0x61)) & ~(self &+ Self.ones &* (0x80 - 0x7B))
        let isHyphen = ~((self ^ Self.ones &* 0x2D) &+ Self.ones &* 0x7F)
        return (isLetter | isHyphen) & Self.highBits == Self.highBits
    }
}

extension Span where Element == UInt8 {
    /// Whether there is at least one byte and each is a token's.
    var isToken: Bool { count > 0 && allSatisfy(\.isTokenCharacter) }

    /// Whether each byte may stand in a field's value: no control character but the tab.
    ///
    /// Values are long, and all of them are looked at; only where one has a control character, each byte is.
    var isFieldValue: Bool { !hasControlCharacter || allSatisfy(\.isFieldCharacter) }

    /// Whether there is a control character, the tab included; eight bytes at a time, the last ones perhaps twice.
    private var hasControlCharacter: Bool {
        guard count >= 8 else { return !allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        // Nearly every value has none, so nothing is gained by stopping at the first, and several words go at once.
        var marks = word(at: count - 8).controlCharacterMarks
        for index in 0..<count / 8 { marks |= word(at: 8 &* index).controlCharacterMarks }
        return marks & UInt64.highBits != 0
    }

    private func word(at index: Int) -> UInt64 {
        // In bounds: the caller has seen that eight bytes are left.
        unsafe withUnsafeBytes { unsafe $0.loadUnaligned(fromByteOffset: index, as: UInt64.self) }
    }

    /// Whether no byte is NUL, LF or CR.
    var isWithoutLineEnds: Bool { !hasControlCharacter || allSatisfy { $0 != 0x00 && $0 != 0x0A && $0 != 0x0D } }

    /// Whether these are letters in lower case and hyphens, as nearly all names of fields; eight bytes at a time.
    var isLowercaseWords: Bool {
        guard count >= 8 else { return allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x2D } }
        var index = 0
        while index + 8 < count {
            if !word(at: index).isLowercaseWords { return false }
            index += 8
        }
        return word(at: count - 8).isLowercaseWords
    }

    /// Whether each byte is a visible character of ASCII.
    var isVisibleASCII: Bool { allSatisfy(\.isVisibleASCII) }

    /// Whether this may be a host with or without a port; nobody here looks closer.
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

    /// A range without the blanks at its ends.
    func trimmingBlanks(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isBlank { start += 1 }
        while end > start, self[end - 1].isBlank { end -= 1 }
        return start..<end
    }

    /// The number of 1 to 18 digits that this is.
    var decimal: Int? {
        guard count >= 1, count <= 18, allSatisfy(\.isDigit) else { return nil }
        var number = 0
        for index in 0..<count { number = number * 10 + Int(self[index] - 0x30) }
        return number
    }

    /// The first place of a byte at or after an index.
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }

    /// Whether a list with commas has this lower-case element; the case of letters does not count.
    func listContains(_ element: StaticString) -> Bool {
        var start = 0
        while start <= count {
            let end = firstIndex(of: UInt8(ascii: ","), from: start) ?? count
            if extracting(trimmingBlanks(start..<end)).equalsIgnoringCase(element) { return true }
            start = end + 1
        }
        return false
    }

    /// Where the authority of an absolute `http` or `https` target begins.
    var startOfAuthority: Int? {
        for scheme: StaticString in ["http://", "https://"] {
            let length = scheme.utf8CodeUnitCount
            if count > length, extracting(0..<length).equalsIgnoringCase(scheme) { return length }
        }
        return nil
    }

    /// Whether a condition is true of each byte.
    func allSatisfy(_ predicate: (UInt8) -> Bool) -> Bool {
        // In bounds by the loop.
        for index in 0..<count where unsafe !predicate(self[unchecked: index]) { return false }
        return true
    }
}
