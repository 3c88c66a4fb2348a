// SPDX-License-Identifier: Apache-2.0

extension DeviceID {
    /// The length of the text form, in bytes.
    package static let textByteCount = 16

    /// Parses sixteen lowercase hexadecimal digits, the only valid form; returns nil for any other text.
    package init?(text: String) { self.init(text: text.utf8.span) }

    /// Parses sixteen lowercase hexadecimal digits, the only valid form; returns nil for any other text.
    package init?(text digits: Span<UInt8>) {
        guard digits.count == Self.textByteCount else { return nil }
        var number: UInt64 = 0
        for offset in digits.indices {
            let digit = digits[offset]
            guard let value = Hex.value(of: digit), digit == digit.lowerCased else { return nil }
            number = number << 4 | UInt64(value)
        }
        guard number >> 63 == 0 else { return nil }
        self.init(rawValue: number)
    }

    /// The device ID as sixteen lowercase hexadecimal digits.
    package var text: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(Self.textByteCount)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            Hex.append(UInt8(truncatingIfNeeded: rawValue >> shift), to: &digits)
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
