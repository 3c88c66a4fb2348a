// SPDX-License-Identifier: Apache-2.0

/// A short byte string in three words, so that comparison is cheap and needs no allocation.
struct PackedText: Equatable {
    /// The maximum number of stored bytes; a longer text never equals one that fits.
    static let byteCountMax = 24

    private(set) var first: UInt64 = 0
    private var second: UInt64 = 0
    private var third: UInt64 = 0
    private(set) var count = 0

    /// Creates an empty text.
    init() {}

    /// Packs the UTF-8 of a text.
    init(_ text: String) {
        for byte in text.utf8 { append(byte) }
    }

    /// Packs a range of bytes.
    @inline(__always)
    init(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        count = range.count
        first = Self.word(bytes, range.lowerBound, count)
        if count > 8 { second = Self.word(bytes, range.lowerBound + 8, count - 8) }
        if count > 16 { third = Self.word(bytes, range.lowerBound + 16, count - 16) }
    }

    /// Returns at most eight bytes as a word in the layout of `append`; uses one load, except at the end of the bytes.
    @inline(__always)
    private static func word(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
        let count = min(count, 8)
        guard count > 0 else { return 0 }
        guard bytes.count - start >= 8 else {
            return (start..<start + count).reduce(0) { $0 << 8 | UInt64(bytes[$1]) }
        }
        // The guard and the load both check the bounds, and every bit pattern is a valid UInt64.
        let word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self).bigEndian
        return word >> UInt64(64 - 8 * count)
    }

    /// The text with ASCII letters in lowercase.
    var lowerCased: PackedText {
        var text = self
        (text.first, text.second, text.third) = (first.lowerCased, second.lowerCased, third.lowerCased)
        return text
    }

    /// Appends one byte.
    @inline(__always)
    mutating func append(_ byte: UInt8) {
        switch count {
        case 0..<8: first = first << 8 | UInt64(byte)
        case 8..<16: second = second << 8 | UInt64(byte)
        case 16..<24: third = third << 8 | UInt64(byte)
        default: break
        }
        count += 1
    }

    /// Returns the number of uppercase letters, given the same text in lowercase.
    func largeCount(besides small: PackedText) -> Int {
        let count = (first ^ small.first).caseBitCount
        guard self.count > 8 else { return count }
        return count + (second ^ small.second).caseBitCount + (third ^ small.third).caseBitCount
    }

    /// The number of digits; the text must consist of lowercase letters and digits.
    var digitCount: Int { count > 8 ? first.digitCount + second.digitCount + third.digitCount : first.digitCount }

    /// Returns whether the text begins with a prefix of at most eight bytes.
    func hasPrefix(_ prefix: PackedText) -> Bool {
        guard count >= prefix.count, prefix.count <= 8 else { return false }
        return first >> UInt64(8 * (min(count, 8) - prefix.count)) == prefix.first
    }

    /// The multiplicative hash of the text; the high bits are the best mixed ones.
    @inline(__always)
    var hash: UInt64 {
        let mixed = (first ^ second &* 0x9E37_79B9_7F4A_7C15 ^ third) &+ UInt64(truncatingIfNeeded: count)
        return mixed &* 0xD6E8_FEB8_6659_FD93
    }
}

extension UInt64 {
    /// The eight bytes with ASCII letters in lowercase.
    ///
    /// The high bit is masked off first, so nothing carries into the next byte. Adding 0x3F then sets it from `A` on,
    /// and adding 0x25 sets it for every byte after `Z`.
    fileprivate var lowerCased: UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits = ones &* 0x80
        let low = self & ~highBits
        let isUpper = (low &+ ones &* 0x3F) & ~(low &+ ones &* 0x25) & ~self & highBits
        return self | isUpper >> 2
    }

    /// The number of bytes that are 0x20, if all others are 0; the product's highest byte is the sum of all.
    fileprivate var caseBitCount: Int { Int(truncatingIfNeeded: (self >> 5 &* 0x0101_0101_0101_0101) >> 56) }

    /// The number of digits among eight bytes, each a lowercase letter, a digit or 0.
    ///
    /// Digits have bit 4 set and bit 6 clear.
    fileprivate var digitCount: Int { ((~self & self << 2 & 0x4040_4040_4040_4040) >> 1).caseBitCount }
}

/// An immutable hash table with short texts as keys.
struct PackedTable<Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: PackedText
        let value: Value
    }

    private var slots: [Slot?]
    private let shift: UInt64

    /// Builds the table; a duplicate or too long key is a programming error and stops the process.
    init(_ entries: [(key: String, value: Value)]) {
        var bitCount: UInt64 = 3
        while 1 << bitCount < entries.count * 2 { bitCount += 1 }
        shift = 64 - bitCount
        slots = Array(repeating: nil, count: 1 << bitCount)
        for entry in entries {
            let key = PackedText(entry.key)
            precondition(key.count <= PackedText.byteCountMax, "\(entry.key) is too long")
            let index = position(of: key)
            precondition(slots[index] == nil, "\(entry.key) comes twice")
            slots[index] = Slot(key: key, value: entry.value)
        }
    }

    /// Returns the value of a text; nil if the text has no value.
    subscript(key: PackedText) -> Value? { slots[position(of: key)]?.value }

    /// Returns the slot of the key, or the free slot where the search ends.
    ///
    /// At least half of the slots are free, so the search always ends.
    private func position(of key: PackedText) -> Int {
        var index = Int(key.hash >> shift)
        while let slot = slots[index], slot.key != key {
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }
}
