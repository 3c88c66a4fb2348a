// SPDX-License-Identifier: Apache-2.0

/// Parses and validates the values of `apns-*` header fields.
package enum HeaderValues {
    /// The maximum accepted `apns-expiration`.
    ///
    /// It allows for senders that use milliseconds, and is far below any overflow. Nothing is stored longer than
    /// `Limits.retentionSecondsMax` anyway.
    static let expirationMax = Timestamp(unixSeconds: 1_000_000_000_000_000)

    /// Parses `apns-expiration`: UNIX seconds, or 0 for now or never; returns nil for any other value.
    package static func expiration(_ value: Span<UInt8>) -> Timestamp? {
        guard let seconds = Decimal.parse(value), seconds <= expirationMax.unixSeconds else { return nil }
        return Timestamp(unixSeconds: seconds)
    }

    /// Parses `apns-priority`: exactly `10`, `5` or `1`; returns nil for any other value.
    package static func priority(_ value: Span<UInt8>) -> UInt8? {
        if value.equals("10") { return 10 }
        if value.equals("5") { return 5 }
        return value.equals("1") ? 1 : nil
    }

    /// Returns whether a value is a valid collapse ID: 1 to 64 arbitrary bytes.
    package static func isCollapseID(_ value: Span<UInt8>) -> Bool {
        !value.isEmpty && value.count <= Limits.collapseIDByteCountMax
    }
}
