// SPDX-License-Identifier: Apache-2.0

package import PushSQL

/// A replication slot, or the feedback of a standby, that keeps PostgreSQL from removing deleted rows.
///
/// PostgreSQL does not record the time since which they keep rows, but only the oldest transaction that they still need.
/// The age is therefore the number of transactions since then. On an idle server, which has few deleted rows, the age
/// grows slowly.
package struct PostgresRowRetention: Sendable, Equatable {
    package enum Owner: Sendable, Equatable {
        /// A replication slot; it is active while a receiver is connected.
        case slot(name: String, isActive: Bool)
        /// A standby with `hot_standby_feedback` and without a slot.
        case standby(name: String)
    }

    /// The age above which an active slot or a standby is reported.
    package static let transactionCountMax: Int64 = 10_000_000
    /// The maximum number that is reported at once.
    static let countMax: Int64 = 10

    package var owner: Owner
    /// The number of transactions that PostgreSQL has started since the oldest one that the owner needs.
    package var transactionCount: Int64

    package init(owner: Owner, transactionCount: Int64) {
        self.owner = owner
        self.transactionCount = transactionCount
    }
}

extension PostgresConnection {
    /// Reads the replication slots and standbys that keep deleted rows for too long, the oldest first.
    ///
    /// An inactive slot that keeps rows is reported at any age, because nothing limits it. A role without the right to
    /// see other sessions sees the slots, but no standbys.
    ///
    /// - Parameter transactionCountMax: The age above which an active slot or a standby is reported.
    /// - Returns: The slots and standbys.
    /// - Throws: The error that the server returned.
    package func oldRowRetentions(
        transactionCountMax: Int64 = PostgresRowRetention.transactionCountMax
    ) throws(SQLError) -> [PostgresRowRetention] {
        let statement = try prepare(
            """
            SELECT name, is_slot, is_active, age FROM (
                SELECT slot_name::text AS name, true AS is_slot, active AS is_active,
                    greatest(age(xmin), age(catalog_xmin))::bigint AS age
                FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL
                UNION ALL SELECT application_name, false, true, age(backend_xmin)::bigint
                FROM pg_stat_replication WHERE backend_xmin IS NOT NULL) AS retentions
            WHERE age > ? OR NOT is_active ORDER BY age DESC, name LIMIT ?
            """)
        statement.bind(transactionCountMax, at: 1)
        statement.bind(PostgresRowRetention.countMax, at: 2)
        defer { statement.reset() }
        var retentions: [PostgresRowRetention] = []
        while try statement.step() {
            let name = statement.string(0)
            let isSlot = statement.int64(1) == 1
            retentions.append(
                PostgresRowRetention(
                    owner: isSlot ? .slot(name: name, isActive: statement.int64(2) == 1) : .standby(name: name),
                    transactionCount: statement.int64(3)))
        }
        return retentions
    }
}
