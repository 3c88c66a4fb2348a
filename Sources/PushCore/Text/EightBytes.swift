// SPDX-License-Identifier: Apache-2.0

/// Eight bytes that are tested in one step.
///
/// `(x - 0x01…) & ~x & 0x80…` is the usual test for a zero byte. A borrow can set wrong bits only in bytes above a
/// match, so the test is exact about whether there is a match.
struct EightBytes {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let topBits: UInt64 = 0x8080_8080_8080_8080
    private let word: UInt64

    /// Loads the eight bytes at an offset, which must be in bounds.
    @inline(__always)
    fileprivate init(_ bytes: Span<UInt8>, uncheckedOffset offset: Int) {
        // The only caller has checked the bounds, and every bit pattern is a valid UInt64.
        word = unsafe bytes.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
    }

    /// A mask that is not 0 if one of the bytes has this value.
    @inline(__always)
    func marks(of byte: UInt8) -> UInt64 {
        let zeros = word ^ Self.ones &* UInt64(byte)
        return (zeros &- Self.ones) & ~zeros & Self.topBits
    }

    /// A mask that is not 0 if one of the bytes is an ASCII control character below 0x20.
    @inline(__always)
    var controlCharacterMarks: UInt64 { (word &- Self.ones &* 0x20) & ~word & Self.topBits }
}

extension Span<UInt8> {
    /// Returns whether any byte is marked; tests eight bytes at a time, the last ones perhaps twice.
    ///
    /// - Parameters:
    ///   - marks: Returns a mask that is not 0 if one of eight bytes is marked.
    ///   - isMarked: The same test for one byte, for a text of fewer than eight bytes.
    /// - Returns: Whether any byte is marked.
    @inline(__always)
    func isMarked(_ marks: (EightBytes) -> UInt64, orByte isMarked: (UInt8) -> Bool) -> Bool {
        guard count >= 8 else {
            for offset in indices where isMarked(self[offset]) { return true }
            return false
        }
        // Nearly every text has none, so an early exit gains nothing, and without it several words are tested in
        // parallel.
        var found = marks(EightBytes(self, uncheckedOffset: count &- 8))
        for place in 0..<count / 8 { found |= marks(EightBytes(self, uncheckedOffset: 8 &* place)) }
        return found != 0
    }

    /// Whether any byte is an ASCII control character below 0x20.
    package var hasControlCharacter: Bool { isMarked(\.controlCharacterMarks) { $0 < 0x20 } }

    /// Whether any byte has this value.
    func contains(_ byte: UInt8) -> Bool { isMarked({ $0.marks(of: byte) }, orByte: { $0 == byte }) }
}
