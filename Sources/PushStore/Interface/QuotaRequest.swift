// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What is asked of the store about quotas, which it only keeps: who may send is decided without it.
package enum QuotaRequest: Sendable {
    /// Answered by `quotas`: what administrators set, and what was used.
    case all
    /// Sets limits of a team, key or app and leaves the others of it; answered by `quotas` with all that is set for it.
    case change(QuotaSubject, QuotaLimits)
    /// Answered by `done`, also when nothing was set for one that there is.
    case clear(QuotaSubject)
    /// Writes down what was used, in place of what was written before; answered by `done`.
    case note([QuotaUse])
}

/// How much a team, key or app sent in one day.
package struct QuotaUse: Equatable, Sendable {
    /// Who.
    package var subject: QuotaSubject
    /// Days of UTC since 1970.
    package var day: Int64
    /// Notifications.
    package var count: Int64

    /// Joins the parts.
    package init(_ subject: QuotaSubject, day: Int64, count: Int64) {
        self.subject = subject
        self.day = day
        self.count = count
    }
}
