// SPDX-License-Identifier: Apache-2.0

/// The agreement between the clock of a node and that of PostgreSQL.
package enum ClockAgreement: Sendable {
    case agrees
    /// The difference exceeds two seconds, and an administrator must set a clock.
    case differs
    /// The difference exceeds thirty seconds, so the node neither accepts nor delivers.
    ///
    /// Otherwise, it would judge expirations and signatures differently from other nodes.
    case suspends

    private static let differenceMax: Int64 = 2_000
    /// The maximum difference between the clocks of a node and of PostgreSQL at which the node serves, in milliseconds.
    package static let suspensionDifferenceMax: Int64 = 30_000

    init(differenceMilliseconds difference: Int64) {
        if difference.magnitude > Self.suspensionDifferenceMax {
            self = .suspends
        } else {
            self = difference.magnitude > Self.differenceMax ? .differs : .agrees
        }
    }
}
