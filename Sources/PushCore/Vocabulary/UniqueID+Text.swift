// SPDX-License-Identifier: Apache-2.0

extension UniqueID {
    /// Parses the canonical form, 8-4-4-4-12 hexadecimal digits in either case; returns nil for any other text.
    package init?(_ text: Span<UInt8>) {
        guard text.count == 36 else { return nil }
        let hyphen = UInt8(ascii: "-")
        guard text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        func take(_ range: Range<Int>, into half: inout UInt64) -> Bool {
            for offset in range {
                guard let digit = Hex.value(of: text[offset]) else { return false }
                half = half << 4 | UInt64(digit)
            }
            return true
        }
        guard take(0..<8, into: &high), take(9..<13, into: &high), take(14..<18, into: &high),
            take(19..<23, into: &low), take(24..<36, into: &low)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Appends the canonical form in lowercase, 36 bytes.
    package func append(to output: inout OutputSpan<UInt8>) {
        let text = lowerCaseText
        output.append(text.span)
    }

    /// The canonical form in uppercase, as Apple writes its own IDs.
    package var upperCaseText: InlineArray<36, UInt8> { text(letters: UInt8(ascii: "A")) }

    /// The canonical form in lowercase, as `append` writes it.
    package var lowerCaseText: InlineArray<36, UInt8> { text(letters: UInt8(ascii: "a")) }

    /// Returns the canonical form; `letters` is the letter for the digit ten, `A` or `a`.
    @inline(__always)
    private func text(letters: UInt8) -> InlineArray<36, UInt8> {
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        for index in 0..<8 {
            let group = (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4))
            let digits = Hex.digits(of: UInt16(truncatingIfNeeded: group), letters: letters)
            // A hyphen precedes the second to the fifth of the eight groups of four digits.
            let start = 4 * index + min(max(index - 1, 0), 4)
            var space = text.mutableSpan
            // `storeBytes` checks the bounds, and every byte of the text is initialized before and after it.
            var bytes = unsafe space.mutableBytes
            bytes.storeBytes(of: digits.littleEndian, toByteOffset: start, as: UInt32.self)
        }
        return text
    }

    /// Returns whether a canonical form has uppercase letters; only they lack the bit 0x20 among its characters.
    package static func hasCapitals(_ text: Span<UInt8>) -> Bool {
        var common: UInt8 = 0x20
        for index in text.indices { common &= text[index] }
        return common == 0
    }

    /// The canonical form in lowercase.
    package var text: String { text(hasCapitals: false) }

    /// Returns the canonical form in uppercase or lowercase.
    package func text(hasCapitals: Bool) -> String {
        let text = hasCapitals ? upperCaseText : lowerCaseText
        var output: [UInt8] = []
        output.append(text.span)
        return String(decoding: output, as: UTF8.self)
    }

    /// Creates a UUID from 128 random bits; version and variant overwrite six of them.
    ///
    /// - Parameters:
    ///   - high: 64 random bits, of which 60 are kept.
    ///   - low: 64 random bits, of which 62 are kept.
    /// - Returns: A UUID of version 4.
    /// - SeeAlso: RFC 9562, section 5.4
    package static func version4(high: UInt64, low: UInt64) -> UniqueID {
        UniqueID(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_4000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Returns whether the canonical form has a hyphen at this offset.
    private static func isHyphenOffset(_ offset: Int) -> Bool {
        offset == 8 || offset == 13 || offset == 18 || offset == 23
    }

    /// Returns one of the sixteen bytes, in network byte order.
    private func byte(_ index: Int) -> UInt8 {
        let half = index < 8 ? high : low
        return UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (index % 8)))
    }
}
