// SPDX-License-Identifier: Apache-2.0

extension UniqueID {
    /// Reads the canonical form, 8-4-4-4-12 hexadecimal digits of either case; nil for any other text.
    package init?(_ text: Span<UInt8>) {
        guard text.count == 36 else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for offset in text.indices {
            if Self.isHyphenOffset(offset) {
                guard text[offset] == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hex.value(of: text[offset]) else { return nil }
            // Each digit moves the ones before it to the left, out of the lower half into the upper.
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(digit)
        }
        self.init(high: high, low: low)
    }

    /// Appends the canonical form in lower case, 36 bytes.
    package func append(to output: inout [UInt8]) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { output.append(UInt8(ascii: "-")) }
            Hex.append(byte(index), to: &output)
        }
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

    /// The canonical form in lower case.
    package var text: String {
        var output: [UInt8] = []
        output.reserveCapacity(36)
        append(to: &output)
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
