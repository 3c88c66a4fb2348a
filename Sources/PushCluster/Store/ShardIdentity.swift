// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The numbers of a shard and of its cluster in the table `state`, by which a node notices a wrong address.
struct ShardIdentity: Equatable {
    /// A random number that all shards of a cluster share.
    var cluster: Int64
    var shard: Int
}

/// The random numbers that identify the databases of a cluster's shards.
struct ShardDatabases: Equatable {
    /// The number of the database of each shard; nil before a node has used the shard.
    var numbers: [Int64?]

    /// Returns the first shard with slots for which `other` names another database; nil if both name the same databases.
    func firstDifference(from other: ShardDatabases, in slots: SlotMap) -> Int? {
        numbers.indices.first { shard in
            guard let own = numbers[shard], let used = other.numbers[shard], own != used else { return false }
            return slots.slotCount(of: shard) > 0
        }
    }
}

extension PostgresConnection {
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
                AND (?2::bigint = 0
                    OR NOT EXISTS (SELECT 1 FROM devices) AND NOT EXISTS (SELECT 1 FROM secrets))
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

    /// Returns whether the cluster uses another database as a shard; called on shard 0.
    ///
    /// A shard without slots may get another database.
    func excludes(_ shard: PostgresConnection, asShard number: Int) throws(SQLError) -> Bool {
        let slots = try prepare("SELECT 1 FROM slots WHERE ?1::int IN (shard, moving_to, former) LIMIT 1")
        slots.bind(Int64(number), at: 1)
        defer { slots.reset() }
        guard try slots.step(), let known = try state(Self.name(ofShard: number)) else { return false }
        return try shard.state(Self.databaseName) != known
    }

    /// Records the database that the cluster uses as a shard, and returns its number; called on shard 0.
    @discardableResult
    func include(_ shard: PostgresConnection, asShard number: Int) throws(SQLError) -> Int64? {
        let insert = try shard.prepare("INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO NOTHING")
        insert.bind(Self.databaseName, at: 1)
        insert.bind(Int64.random(in: 1 ... .max), at: 2)
        try insert.run()
        let own = try shard.state(Self.databaseName)
        if let own { try setState(Self.name(ofShard: number), to: own) }
        return own
    }

    /// Returns the databases that the cluster uses as shards; called on shard 0.
    func databases(shardCount: Int) throws(SQLError) -> ShardDatabases {
        var numbers: [Int64?] = []
        for shard in 0..<shardCount { numbers.append(try state(Self.name(ofShard: shard))) }
        return ShardDatabases(numbers: numbers)
    }

    /// Returns whether a shard has the same database as before.
    func isDatabase(ofShard number: Int, in databases: ShardDatabases) throws(SQLError) -> Bool {
        guard let known = databases.numbers[number] else { return true }
        return try state(Self.databaseName) == known
    }

    /// The name of the random number that identifies a database.
    private static let databaseName = "database"
    /// Returns the name under which shard 0 keeps the number of a shard's database.
    private static func name(ofShard number: Int) -> String { "database_of_shard_\(number)" }
}
