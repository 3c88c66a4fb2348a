// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL

/// The numbers of a shard and of its cluster in the table `state`, by which a node notices a wrong address.
struct ShardIdentity: Equatable {
    /// A random number that all shards of a cluster share.
    var cluster: Int64
    var shard: Int
}

extension PostgresConnection {
    /// Returns whether this database has no identity yet.
    func isNew() throws(SQLError) -> Bool {
        let statement = try prepare("SELECT 1 FROM state WHERE name = 'shard'")
        defer { statement.reset() }
        return try !statement.step()
    }

    /// Returns the identity of a shard; writes it first if the shard has none and is new.
    ///
    /// - Parameters:
    ///   - number: The number of the shard in the configuration.
    ///   - cluster: The number of the cluster; nil for shard 0, which gets a new random number.
    /// - Returns: The identity in the table `state`; shard -1 without an identity.
    /// - Throws: The error that PostgreSQL returned.
    func identity(ofShard number: Int, of cluster: Int64? = nil) throws(SQLError) -> ShardIdentity {
        let insert = try prepare(
            """
            INSERT INTO state SELECT name, value
            FROM (VALUES ('cluster', ?1::bigint), ('shard', ?2::bigint)) AS new(name, value)
            WHERE NOT EXISTS (SELECT 1 FROM state WHERE state.name = 'shard')
                AND (?2::bigint = 0 OR NOT EXISTS (SELECT 1 FROM devices))
            ON CONFLICT (name) DO NOTHING
            """)
        insert.bind(cluster ?? .random(in: 1 ... .max), at: 1)
        insert.bind(Int64(number), at: 2)
        try insert.run()
        let select = try prepare(
            """
            SELECT (SELECT value FROM state WHERE name = 'cluster'), (SELECT value FROM state WHERE name = 'shard')
            """)
        defer { select.reset() }
        guard try select.step() else { return ShardIdentity(cluster: 0, shard: -1) }
        return ShardIdentity(cluster: select.int64(0), shard: Int(select.int64(1)))
    }
}
