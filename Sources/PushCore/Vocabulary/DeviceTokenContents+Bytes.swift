// SPDX-License-Identifier: Apache-2.0

extension DeviceTokenContents {
    /// Parses the sixteen bytes of a decrypted device token; returns nil for an impossible device or topic.
    ///
    /// The top bit of a device ID is clear, and topic IDs start at 1. This server writes no other values.
    /// - Parameter bytes: The decrypted contents of the device token.
    package init?(bytes: InlineArray<16, UInt8>) {
        let device = Self.number(in: bytes, at: 0, byteCount: 8)
        let topic = UInt32(truncatingIfNeeded: Self.number(in: bytes, at: 8, byteCount: 4))
        let generation = UInt32(truncatingIfNeeded: Self.number(in: bytes, at: 12, byteCount: 4))
        guard device >> 63 == 0, topic > 0 else { return nil }
        self.init(device: DeviceID(rawValue: device), topic: TopicID(rawValue: topic), generation: generation)
    }

    /// The sixteen bytes that a device token encrypts.
    package var bytes: InlineArray<16, UInt8> {
        InlineArray { index in
            switch index {
            case 0..<8: UInt8(truncatingIfNeeded: device.rawValue >> UInt64(56 - 8 * index))
            case 8..<12: UInt8(truncatingIfNeeded: topic.rawValue >> UInt32(24 - 8 * (index - 8)))
            default: UInt8(truncatingIfNeeded: generation >> UInt32(24 - 8 * (index - 12)))
            }
        }
    }

    /// Reads a big-endian number.
    private static func number(in bytes: InlineArray<16, UInt8>, at offset: Int, byteCount: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in offset..<offset + byteCount {
            number = number << 8 | UInt64(bytes[index])
        }
        return number
    }
}
