// SPDX-License-Identifier: Apache-2.0

/// FNV-1a over 64-bit words.
///
/// The high half is folded down, so that each input bit affects the low half too.
struct Checksum {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x0000_0100_0000_01b3
        value ^= value >> 32
    }

    /// Adds the byte count and then the bytes, eight at a time.
    mutating func add(_ bytes: Span<UInt8>) {
        add(UInt64(bytes.count))
        let wholeCount = bytes.count & ~7
        unsafe bytes.withUnsafeBytes { buffer in
            for offset in stride(from: 0, to: wholeCount, by: 8) {
                add(UInt64(littleEndian: unsafe buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
        }
        var last: UInt64 = 0
        for index in wholeCount..<bytes.count { last = last << 8 | UInt64(bytes[index]) }
        add(last)
    }
}
