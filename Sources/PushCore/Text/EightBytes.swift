// SPDX-License-Identifier: Apache-2.0

/// Eight bytes that are looked at in one step.
///
/// `(x - 0x01…) & ~x & 0x80…` is the usual test for a zero byte: a borrow sets bits of bytes above a hit only, so it
/// tells for certain whether there is one.
struct EightBytes {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let topBits: UInt64 = 0x8080_8080_8080_8080
    private let word: UInt64

    /// Takes the bytes from an offset on.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at offset: Int) {
        // The load checks the bounds; bytes of any value are a number.
        word = unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// Whether one of them has this value.
    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let zeros = word ^ Self.ones &* UInt64(byte)
        return (zeros &- Self.ones) & ~zeros & Self.topBits != 0
    }

    /// Whether one of them is a control character of ASCII, below 0x20.
    @inline(__always)
    var containsControlCharacter: Bool { (word &- Self.ones &* 0x20) & ~word & Self.topBits != 0 }
}
