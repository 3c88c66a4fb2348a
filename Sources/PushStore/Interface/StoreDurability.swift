// SPDX-License-Identifier: Apache-2.0

/// What an accepted notification survives.
package enum StoreDurability: String, CaseIterable, Sendable {
    /// Loss of power: it is synchronized to the disk before it is accepted.
    case full
    /// The end of the server; loss of power may take what was accepted within the last second.
    case normal
    /// Nothing for certain: it is accepted at once, and written within a tenth of a second.
    case relaxed
}
