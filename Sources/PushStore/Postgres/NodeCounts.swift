// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
package import PushSQL

/// The event counters of all nodes, in `nodes.counts` for each running instance, and in `state` for all earlier ones.
///
/// The counters of a node are zero when it starts. Before a new instance takes the row of the node, or the row is
/// removed, its counters are added to `state`, so that the total does not shrink. All versions store only integers.
package final class NodeCounts {
    private let select: any SQLStatement
    private let update: any SQLStatement

    init(_ database: any SQLDatabase) throws(SQLError) {
        select = try database.prepare(
            """
            SELECT name, sum(value)::bigint FROM (
                SELECT substr(name, 7) AS name, value FROM state WHERE starts_with(name, 'count:')
                UNION ALL
                SELECT key, value::bigint
                FROM nodes CROSS JOIN LATERAL jsonb_each_text(convert_from(counts, 'UTF8')::jsonb) WHERE number <> ?
            ) AS counters GROUP BY name
            """)
        update = try database.prepare(
            "UPDATE nodes SET counts = convert_to(CAST(? AS text), 'UTF8') WHERE instance = ?")
    }

    /// Replaces the counters of an instance, unless its row is gone or another instance has it.
    func write(_ counts: AdminAPI.Counts, instance: Int64) throws(SQLError) {
        update.bind(counts.storedEvents, at: 1)
        update.bind(instance, at: 2)
        try update.run()
    }

    /// Adds the counters of all nodes except the calling node, which has newer ones in memory.
    func add(to counts: inout AdminAPI.Counts, except node: Int64) throws(SQLError) {
        select.bind(node, at: 1)
        while try select.step() { counts.addStored(select.string(0), Int(select.int64(1))) }
    }

    /// Adds the counters of a node to those of earlier instances; call it in the transaction that changes the row.
    ///
    /// - Parameters:
    ///   - node: The name of the node.
    ///   - seconds: The time without a heartbeat after which the counters of the node are final.
    ///   - database: The connection.
    /// - Returns: Whether the node exists and had no heartbeat for this time; its row is then locked.
    /// - Throws: The error that PostgreSQL returned.
    package static func end(
        _ node: String, silentForSeconds seconds: Int64, on database: any SQLDatabase
    ) throws(SQLError) -> Bool {
        let statement = try database.prepare(
            """
            WITH ended AS (
                SELECT number, counts FROM nodes
                WHERE name = ? AND seen_at < clock_timestamp() - make_interval(secs => ?::bigint) FOR UPDATE),
            added AS (
                INSERT INTO state
                SELECT 'count:' || key, value::bigint
                FROM ended CROSS JOIN LATERAL jsonb_each_text(convert_from(counts, 'UTF8')::jsonb)
                ON CONFLICT (name) DO UPDATE SET value = state.value + excluded.value)
            UPDATE nodes SET counts = NULL FROM ended WHERE nodes.number = ended.number RETURNING nodes.number
            """)
        statement.bind(node, at: 1)
        statement.bind(seconds, at: 2)
        defer { statement.reset() }
        return try statement.step()
    }
}
