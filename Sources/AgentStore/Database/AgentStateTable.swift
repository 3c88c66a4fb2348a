// SPDX-License-Identifier: Apache-2.0

package import PushCore
package import PushSQL
internal import PushSQLite

/// The table of numbers that the agent stores by name.
package final class AgentStateTable {
    /// The names of the stored numbers.
    package enum Name: String {
        /// 1 while the server does not know the refused topics yet.
        case isFilterDue = "filter_due"
        /// The version of the server's policies on this device; 0 for none.
        case policyVersion = "policy_version"
        /// The version of the server's announced authorities that this device confirmed; 0 for none.
        case authorityVersion = "authority_version"
        /// The last stored time at which the stream was open, in UNIX seconds.
        case lastConnectedAt = "last_connected"
        /// The last time of the clock while it was trusted, in UNIX seconds.
        case clockTrustedAt = "clock_trusted"
        /// The upper half of the random ID of the unanswered enrolment request; 0 for none.
        case enrolmentRequestHigh = "enrolment_request_high"
        /// The lower half of the same ID.
        case enrolmentRequestLow = "enrolment_request_low"
        /// The time of the clock when it was first distrusted, in UNIX seconds; 0 while it is trusted.
        case clockDoubtedAt = "clock_doubted"
    }

    private let select: Statement
    private let replace: Statement

    init(_ connection: Connection) throws(SQLError) {
        select = try connection.prepare("SELECT value FROM settings WHERE name = ?")
        replace = try connection.prepare("INSERT OR REPLACE INTO settings VALUES (?, ?)")
    }

    /// Returns a number; nil if it was never set.
    package func value(of name: Name) throws(SQLError) -> Int64? {
        defer { select.reset() }
        select.bind(name.rawValue, at: 1)
        return try select.step() ? select.int64(0) : nil
    }

    /// Returns a time that is stored in UNIX seconds; nil if it was never set.
    package func time(of name: Name) throws(SQLError) -> Timestamp? {
        try value(of: name).map(Timestamp.init(unixSeconds:))
    }

    package func set(_ name: Name, to value: Int64) throws(SQLError) {
        replace.bind(name.rawValue, at: 1)
        replace.bind(value, at: 2)
        try replace.run()
    }

    /// Stores a time in UNIX seconds.
    package func set(_ name: Name, to time: Timestamp) throws(SQLError) { try set(name, to: time.unixSeconds) }
}
