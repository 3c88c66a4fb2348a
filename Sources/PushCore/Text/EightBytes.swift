// SPDX-License-Identifier: Apache-2.0

/// Eight bytes that are tested in one step.
///
/// `(x - 0x01…) & ~x & 0x80…` is the usual test for a zero byte. A borrow can set wrong bits only in bytes above a
/// match, so the test is exact about whether there is a match.
package struct EightBytes {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let topBits: UInt64 = 0x8080_8080_8080_8080
    private let word: UInt64

    /// Loads the eight bytes at an offset.
    @inline(__always)
    package init(_ bytes: Span<UInt8>, at offset: Int) {
        // The load checks the bounds, and every bit pattern is a valid UInt64.
        word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// Returns whether one of the bytes has this value.
    @inline(__always)
    package func contains(_ byte: UInt8) -> Bool {
        let zeros = word ^ Self.ones &* UInt64(byte)
        return (zeros &- Self.ones) & ~zeros & Self.topBits != 0
    }

    /// Whether one of the bytes is an ASCII control character below 0x20.
    @inline(__always)
    package var containsControlCharacter: Bool { (word &- Self.ones &* 0x20) & ~word & Self.topBits != 0 }
}
