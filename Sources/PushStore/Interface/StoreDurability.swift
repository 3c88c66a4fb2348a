// SPDX-License-Identifier: Apache-2.0

/// The failures that an accepted notification survives.
package enum StoreDurability: String, CaseIterable, Sendable {
    /// The notification survives a power loss.
    ///
    /// It is synchronized to the disk before it is accepted.
    case full
    /// The notification survives the end of the server process.
    ///
    /// A power loss may lose the last second.
    case normal
    /// The notification may be lost.
    ///
    /// It is accepted immediately and written within a tenth of a second.
    case relaxed
}
