// SPDX-License-Identifier: Apache-2.0

package import PushSQLite

/// Numbers by name that the agent keeps for itself.
package final class FactTable {
    /// What there is.
    package enum Name: String {
        /// 1 while the server does not know yet which topics are refused.
        case isFilterDue = "filter_due"
        /// The version of the server's policies that this device has; 0 for none.
        case policyVersion = "policy_version"
        /// When the stream was last open, as far as it was written down, UNIX seconds.
        case lastConnectedUnixSeconds = "last_connected"
        /// What the clock said when it was last believed, UNIX seconds.
        case clockTrustedUnixSeconds = "clock_trusted"
        /// The halves of the random id of the enrolment request that has no answer yet; 0 without one.
        case enrolmentRequestHigh = "enrolment_request_high"
        case enrolmentRequestLow = "enrolment_request_low"
        /// What it said when it was first doubted, UNIX seconds; 0 for no doubt.
        case clockDoubtedUnixSeconds = "clock_doubted"
    }

    private let select: Statement
    private let replace: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        select = try connection.prepare("SELECT value FROM settings WHERE name = ?")
        replace = try connection.prepare("INSERT OR REPLACE INTO settings VALUES (?, ?)")
    }

    /// The number; nil when it was never set.
    package func value(of name: Name) throws(SQLiteError) -> Int64? {
        defer { select.reset() }
        select.bind(name.rawValue, at: 1)
        return try select.step() ? select.int64(0) : nil
    }

    /// Remembers a number.
    package func set(_ name: Name, to value: Int64) throws(SQLiteError) {
        replace.bind(name.rawValue, at: 1)
        replace.bind(value, at: 2)
        try replace.run()
    }
}
