// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The identity of a waiting notification among those of its device.
///
/// Notifications with the same collapse ID have the same key, so each replaces the one before it. The key of any other
/// notification is the number that it had when it was accepted.
package struct RowKey: RawRepresentable, Hashable, Sendable {
    /// The number; negative for a collapse ID.
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Whether the notification has a collapse ID.
    var isCollapsible: Bool { rawValue < 0 }
}

/// A row of the table `pending`, by which it is deleted.
package struct RowReference: Hashable, Sendable {
    package var device: DeviceID
    package var key: RowKey
    package var id: Int64
}
