// SPDX-License-Identifier: Apache-2.0

/// Encodes and decodes hexadecimal digits.
package enum Hex {
    /// Returns bytes as lower-case digits.
    package static func text(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        append(bytes.span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Decodes exactly 64 digits of either case; returns nil for any other input.
    package static func decode32(_ digits: Span<UInt8>) -> InlineArray<32, UInt8>? {
        guard digits.count == 64 else { return nil }
        var bytes = InlineArray<32, UInt8>(repeating: 0)
        for index in 0..<8 {
            // The guard and the load both check the bounds, and every bit pattern is a valid UInt64.
            let word = unsafe digits.bytes.unsafeLoadUnaligned(fromByteOffset: 8 * index, as: UInt64.self).littleEndian
            guard let four = decode8(word) else { return nil }
            var space = bytes.mutableSpan
            // `storeBytes` checks the bounds, and every byte is initialized before and after it.
            var raw = unsafe space.mutableBytes
            raw.storeBytes(of: four.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
        }
        return bytes
    }

    /// Decodes eight digits in parallel; returns nil if a byte is not a digit.
    ///
    /// The first digit is in the lowest byte, and the first decoded byte too. Digits are 0x3_, letters are 0x4_ or
    /// 0x6_, so bit 6 distinguishes them. The value of a letter is 9 more than its lower half. Each byte of a sum is
    /// below 32, so nothing carries into the next byte.
    @inline(__always)
    private static func decode8(_ word: UInt64) -> UInt32? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let isLetter = word >> 6 & ones
        let values = (word & (ones &* 0x0F)) &+ isLetter &* 9
        let hasGoodUpperHalves = word & (ones &* 0xF0 &- isLetter &* 0x20) == ones &* 0x30 &+ isLetter &* 0x10
        // A letter's value is at least ten, a digit's is less, and no value reaches sixteen.
        let isTenOrMore = (values &+ ones &* 6) >> 4 & ones
        guard hasGoodUpperHalves, isTenOrMore == isLetter, values & (ones &* 0x10) == 0 else { return nil }
        // Two digits form the lower byte of their sixteen bits; then the lower bytes are packed together.
        var bytes = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        bytes = (bytes | bytes >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: bytes | bytes >> 16)
    }

    /// Decodes an even number of digits of either case; returns nil for any other input.
    package static func decode(_ digits: Span<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for offset in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = byte(in: digits, at: offset) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }

    /// Returns whether a byte is a hexadecimal digit of either case.
    package static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Appends two lowercase digits for each byte.
    package static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        for index in bytes.indices {
            append(bytes[index], to: &output)
        }
    }

    /// Appends two lowercase digits.
    static func append(_ byte: UInt8, to output: inout [UInt8]) {
        output.append(digit(byte >> 4))
        output.append(digit(byte & 0xF))
    }

    /// Returns two lowercase digits for each byte.
    package static func string(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * bytes.count)
        append(bytes.span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Returns four digits in one step, the first in the lowest byte.
    ///
    /// - Parameters:
    ///   - number: The number to encode.
    ///   - letters: The ASCII code of the digit ten: `a` or `A`.
    /// - Returns: The four digits as ASCII codes.
    @inline(__always)
    static func digits(of number: UInt16, letters: UInt8) -> UInt32 {
        let ones: UInt32 = 0x0101_0101
        // Spreads the two bytes apart, the first lowest, then moves the upper half of each into its lower byte.
        let bytes = UInt32(number >> 8) | UInt32(number & 0xFF) << 16
        let values = bytes >> 4 & 0x000F_000F | (bytes & 0x000F_000F) << 8
        let isLetter = (values &+ ones &* 6) >> 4 & ones
        return values &+ ones &* 0x30 &+ isLetter &* UInt32(letters - 0x3A)
    }

    /// Returns the value of one digit of either case; nil for any other byte.
    @inline(__always)
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    /// Decodes the two digits at an offset; the caller has checked the bounds.
    @inline(__always)
    private static func byte(in digits: Span<UInt8>, at offset: Int) -> UInt8? {
        guard let high = value(of: digits[offset]), let low = value(of: digits[offset + 1]) else { return nil }
        return high << 4 | low
    }

    /// Returns the lowercase digit of a value below 16.
    @inline(__always)
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? 0x30 + value : 0x61 + value - 10
    }
}
