// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The quotas of a node, whose settings and use the nodes of a cluster share.
package protocol SharedQuotas: AnyObject, Sendable {
    /// Replaces the limits that administrators set, because they may have changed at another node.
    func replaceSettings(_ settings: [QuotaSubject: QuotaLimits])

    /// Returns what this node counted since the last call.
    func takeRecentUse() -> [SharedQuotaUse]

    /// Counts what another node has counted.
    func charge(_ uses: [SharedQuotaUse], ofNode node: Int64)
}

/// The use of a subject's limits at one node.
package struct SharedQuotaUse: Equatable, Sendable {
    package var subject: QuotaSubject
    /// The number of requests since the last message.
    package var requestCount: Int64
    /// The number of bad device tokens since the last message.
    package var badTokenCount: Int64
    /// The number of UTC days since 1970.
    package var day: Int64
    /// The number of the day's notifications at the node.
    package var dayCount: Int64

    package init(_ subject: QuotaSubject, requestCount: Int64, badTokenCount: Int64, day: Int64, dayCount: Int64) {
        self.subject = subject
        self.requestCount = requestCount
        self.badTokenCount = badTokenCount
        self.day = day
        self.dayCount = dayCount
    }
}
