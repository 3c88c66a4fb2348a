// SPDX-License-Identifier: Apache-2.0

/// A short text of bytes in three words, so that comparing it costs nothing and no memory is asked for.
struct PackedText: Equatable {
    /// Longer texts equal none that is not longer.
    static let byteCountMax = 24

    private(set) var first: UInt64 = 0
    private var second: UInt64 = 0
    private var third: UInt64 = 0
    private(set) var count = 0

    /// An empty text.
    init() {}

    /// Packs the UTF-8 of a text.
    init(_ text: String) {
        for byte in text.utf8 { append(byte) }
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

    /// Whether it begins with a text of at most eight bytes.
    func hasPrefix(_ prefix: PackedText) -> Bool {
        guard count >= prefix.count, prefix.count <= 8 else { return false }
        return first >> UInt64(8 * (min(count, 8) - prefix.count)) == prefix.first
    }

    /// A number that is likely another one for another text.
    @inline(__always)
    var hash: UInt64 {
        let mixed = (first ^ second &* 0x9E37_79B9_7F4A_7C15 ^ third) &+ UInt64(truncatingIfNeeded: count)
        return mixed &* 0xD6E8_FEB8_6659_FD93
    }
}

/// A fixed table from short texts to values, made once.
struct PackedTable<Value: Sendable>: Sendable {
    private struct Slot: Sendable {
        let key: PackedText
        let value: Value
    }

    private var slots: [Slot?]
    private let shift: UInt64

    /// Makes the table; a key that comes twice is a mistake of ours.
    init(_ entries: [(key: String, value: Value)]) {
        var bitCount: UInt64 = 3
        while 1 << bitCount < entries.count * 2 { bitCount += 1 }
        shift = 64 - bitCount
        slots = Array(repeating: nil, count: 1 << bitCount)
        for entry in entries {
            let key = PackedText(entry.key)
            precondition(key.count <= PackedText.byteCountMax, "\(entry.key) is too long")
            let index = place(of: key)
            precondition(slots[index] == nil, "\(entry.key) comes twice")
            slots[index] = Slot(key: key, value: entry.value)
        }
    }

    /// The value of a text; nil when it has none.
    subscript(key: PackedText) -> Value? { slots[place(of: key)]?.value }

    /// Where the key is, or would be: at least half of the slots are free, so the search ends.
    private func place(of key: PackedText) -> Int {
        var index = Int(key.hash >> shift)
        while let slot = slots[index], slot.key != key {
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }
}
