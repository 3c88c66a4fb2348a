// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushTLS

/// The identity of a waiting notification among those of its device, in PostgreSQL.
///
/// Notifications with the same collapse ID have the same key, so each replaces the one before it. The key of any other
/// notification is the number that it had when it was accepted.
package struct RowKey: RawRepresentable, Hashable, Sendable {
    /// The number; negative for a collapse ID.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Creates the key of a notification: minus 63 bits of SHA-256 over topic and collapse ID, or its number.
    package init(of notification: Notification, id: Int64) {
        guard let collapseID = notification.collapseID else {
            self.init(rawValue: id)
            return
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + collapseID.count)
        for shift in stride(from: 0, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: notification.address.topic.rawValue >> UInt32(shift)))
        }
        bytes.append(contentsOf: collapseID)
        var hash: UInt64 = 0
        for byte in SHA256.hash(bytes.span).prefix(8) { hash = hash << 8 | UInt64(byte) }
        // From -2^63 + 1 to -1.
        self.init(rawValue: -Int64(max(hash >> 1, 1)))
    }

    /// Whether the notification has a collapse ID.
    package var isCollapsible: Bool { rawValue < 0 }
}

/// A row of the table `pending`, by which it is deleted.
package struct RowReference: Hashable, Sendable {
    package var device: DeviceID
    package var key: RowKey
    package var id: Int64

    package init(device: DeviceID, key: RowKey, id: Int64) {
        self.device = device
        self.key = key
        self.id = id
    }
}
