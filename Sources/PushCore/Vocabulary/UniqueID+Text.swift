// SPDX-License-Identifier: Apache-2.0

extension UniqueID {
    /// Reads the canonical form, 8-4-4-4-12 hexadecimal digits of either case; nil for any other text.
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

    /// Appends the canonical form in lower case, 36 bytes.
    package func append(to output: inout [UInt8]) {
        let text = lowerCaseText
        output.append(text.span)
    }

    /// The canonical form in upper case, as Apple writes its own ids.
    package var upperCaseText: InlineArray<36, UInt8> { text(letters: UInt8(ascii: "A")) }

    /// The canonical form in lower case, as `append` writes it.
    package var lowerCaseText: InlineArray<36, UInt8> { text(letters: UInt8(ascii: "a")) }

    /// The canonical form, with ten as the letter given and those behind it as the next ones.
    @inline(__always)
    private func text(letters: UInt8) -> InlineArray<36, UInt8> {
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        for index in 0..<8 {
            let group = (index < 4 ? high : low) >> UInt64(48 - 16 * (index % 4))
            let digits = Hex.digits(of: UInt16(truncatingIfNeeded: group), letters: letters)
            // A hyphen stands before the second to the fifth of the eight groups of four digits.
            let start = 4 * index + min(max(index - 1, 0), 4)
            for place in 0..<4 { text[start + place] = UInt8(truncatingIfNeeded: digits >> UInt32(8 * place)) }
        }
        return text
    }

    /// Whether a canonical form has capital letters: of its characters only these lack the bit 0x20.
    package static func hasCapitals(_ text: Span<UInt8>) -> Bool {
        var common: UInt8 = 0x20
        for index in text.indices { common &= text[index] }
        return common == 0
    }

    /// The canonical form in lower case.
    package var text: String { text(hasCapitals: false) }

    /// The canonical form in upper or in lower case.
    package func text(hasCapitals: Bool) -> String {
        let text = hasCapitals ? upperCaseText : lowerCaseText
        var output: [UInt8] = []
        output.append(text.span)
        return String(decoding: output, as: UTF8.self)
    }

    /// Makes a random id of 128 random bits, six of which give way to the version and the variant.
    ///
    /// - Parameters:
    ///   - high: 64 random bits, of which 60 are kept.
    ///   - low: 64 random bits, of which 62 are kept.
    /// - Returns: An id of version 4.
    /// - SeeAlso: RFC 9562, section 5.4
    package static func version4(high: UInt64, low: UInt64) -> UniqueID {
        UniqueID(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x0000_0000_0000_4000,
            low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Whether the canonical form has a hyphen there.
    private static func isHyphenOffset(_ offset: Int) -> Bool {
        offset == 8 || offset == 13 || offset == 18 || offset == 23
    }

    /// One of the sixteen bytes, in network order.
    private func byte(_ index: Int) -> UInt8 {
        let half = index < 8 ? high : low
        return UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * (index % 8)))
    }
}
