// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A request about quotas.
///
/// The store only keeps the numbers. The server enforces quotas without asking it.
package enum QuotaRequest: Sendable {
    /// Returns the limits that administrators set and the usage; answered by `quotas`.
    case all
    /// Sets some limits of a team, key or app and keeps its other limits; answered by `quotas` with all its limits.
    case change(QuotaSubject, QuotaLimits)
    /// Removes the limits of a team, key or app; answered by `done` even if no limit was set for an existing one.
    case clear(QuotaSubject)
    /// Replaces the recorded usage; answered by `done`.
    case note([QuotaUse])
}

/// The number of notifications that a team, key or app sent in one day.
package struct QuotaUse: Equatable, Sendable {
    package var subject: QuotaSubject
    /// The number of UTC days since 1970.
    package var day: Int64
    /// The number of notifications.
    package var count: Int64
    /// The number of the other node that counted them; nil for this one.
    package var node: Int64?

    package init(_ subject: QuotaSubject, day: Int64, count: Int64, node: Int64? = nil) {
        self.subject = subject
        self.day = day
        self.count = count
        self.node = node
    }
}
