// SPDX-License-Identifier: Apache-2.0

extension ChannelID {
    /// Parses a channel ID in the form that providers and devices send: standard base64 of sixteen bytes.
    ///
    /// The result is nil if the text is not a channel ID of this server, even if it is well-formed base64.
    ///
    /// - Parameter text: The bytes to parse, which may be arbitrary.
    package init?(text: Span<UInt8>) {
        guard text.count == Self.characterCount, let bytes = Base64.decode(text), bytes.count == 16 else { return nil }
        let halves = bytes.reduce(into: (high: UInt64(0), low: UInt64(0))) { halves, byte in
            halves.high = halves.high << 8 | halves.low >> 56
            halves.low = halves.low << 8 | UInt64(byte)
        }
        self.init(high: halves.high, low: halves.low)
    }

    /// The channel ID as base64 text of 24 characters.
    package var text: String {
        var bytes: [UInt8] = []
        for half in [high, low] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: half >> shift))
            }
        }
        return String(decoding: Base64.encode(bytes.span), as: UTF8.self)
    }

    private static let characterCount = 24
}
