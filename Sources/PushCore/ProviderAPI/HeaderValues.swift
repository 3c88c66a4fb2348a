// SPDX-License-Identifier: Apache-2.0

/// The values of the `apns-*` header fields that are more than words.
package enum HeaderValues {
    /// The latest `apns-expiration` that is taken: some senders give milliseconds, and nothing is kept longer than
    /// `Limits.retentionSecondsMax` anyway; far below any overflow.
    package static let expirationUnixSecondsMax: Int64 = 1_000_000_000_000_000

    /// Reads `apns-expiration`: whole seconds since 1970, or 0 for now or never; nil when it is neither.
    package static func expiration(_ value: Span<UInt8>) -> Int64? {
        guard let seconds = Decimal.parse(value), seconds <= expirationUnixSecondsMax else { return nil }
        return seconds
    }

    /// Reads `apns-priority`: 10, 5 or 1, written so.
    package static func priority(_ value: Span<UInt8>) -> UInt8? {
        if value.isEqual(to: "10") { return 10 }
        if value.isEqual(to: "5") { return 5 }
        return value.isEqual(to: "1") ? 1 : nil
    }

    /// Whether a value has the form of a topic: 1 to 255 letters, digits, dots, hyphens and underscores of ASCII.
    package static func isTopic(_ value: Span<UInt8>) -> Bool {
        guard !value.isEmpty, value.count <= Limits.topicByteCountMax else { return false }
        for offset in value.indices where !isTopicByte(value[offset]) {
            return false
        }
        return true
    }

    /// Whether a value is short enough for a collapse id: 1 to 64 bytes, any bytes.
    package static func isCollapseID(_ value: Span<UInt8>) -> Bool {
        !value.isEmpty && value.count <= Limits.collapseIDByteCountMax
    }

    /// Whether a topic may contain the byte.
    private static func isTopicByte(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
