// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushSQL
internal import PushStore

/// Registers a start of this node in the table `nodes`, before the node serves anything.
struct NodeRegistration {
    /// The time for which a start waits until the last heartbeat of an earlier start is too old, in milliseconds.
    private static let patienceMilliseconds: Int64 = 5_000
    private static let pauseMilliseconds = 100
    /// The codes of this type's own errors, which PostgreSQL does not use.
    private static let (noNumber, noLinks, noPlace) = ("number", "links", "place")
    /// The version of the tables, rows and messages that this program understands.
    static let protocolVersion: Int64 = 1
    /// The key of the advisory lock for new rows: `Nodes` in ASCII.
    private static let lockKey: Int64 = 0x4e_6f64_6573

    let connection: PostgresConnection
    private let configuration: PostgresStoreConfiguration

    /// Connects, checks the server, and creates or checks the tables.
    ///
    /// - Parameters:
    ///   - configuration: The node and the schema.
    ///   - address: The servers of a shard.
    /// - Throws: The problem, whose description says what to do.
    init(_ configuration: PostgresStoreConfiguration, at address: PostgresAddress) throws(PostgresStoreError) {
        self.configuration = configuration
        do {
            connection = try PostgresConnection(to: address, settings: configuration.session)
            for finding in try connection.serverFacts().findings {
                guard !finding.isFatal else { throw PostgresStoreError.unsafe(finding) }
                configuration.onFinding(finding)
            }
        } catch let error as SQLError {
            throw .unreachable(error)
        } catch let error as PostgresStoreError {
            throw error
        } catch {
            preconditionFailure("\(error)")
        }
        do throws(StoreError) {
            let connection = connection
            try PostgresSchema.open(connection, at: "\(address)") { body throws(SQLError) in
                try connection.transaction { () throws(SQLError) in try body() }
            }
        } catch {
            throw .schema(error)
        }
    }

    /// Takes the node's number, or a new one, with a new instance.
    func register() throws(PostgresStoreError) -> InstanceID {
        let end = MonotonicTime.now.advanced(byMilliseconds: Self.patienceMilliseconds)
        while true {
            do {
                if let instance = try attempt() { return instance }
            } catch {
                guard error.kind == .refused else { throw .unreachable(error) }
                switch error.code {
                case Self.noNumber: throw .tooManyNodes
                case Self.noLinks: throw .unlinked
                case Self.noPlace: throw .clusterIsFull
                default: throw .unreachable(error)
                }
            }
            guard MonotonicTime.now < end else { throw .nameTaken(configuration.node) }
            ElapsedPause.wait(milliseconds: Self.pauseMilliseconds)
        }
    }

    /// Registers the instance; returns nil while another one with this name has a recent heartbeat.
    private func attempt() throws(SQLError) -> InstanceID? {
        try connection.transaction(isolation: .readCommitted) { () throws(SQLError) in
            let lock = try connection.prepare("SELECT pg_advisory_xact_lock(?)")
            lock.bind(Self.lockKey, at: 1)
            try lock.run()
            try checkLinks()
            try checkNodeCount()
            let time = try milliseconds()
            let known = try connection.prepare(
                """
                SELECT number, id_ceiling, instance, seen_at > clock_timestamp() - interval '3 seconds' FROM nodes
                WHERE name = ?
                """)
            known.bind(configuration.node, at: 1)
            guard try known.step() else {
                let number = try freeNumber()
                let instance = NotificationIDs.instance(of: number, atUnixMilliseconds: time, above: 0)
                try insert(instance, number)
                return instance
            }
            defer { known.reset() }
            let isOwn = configuration.earlierInstance?.rawValue == known.int64(2)
            guard isOwn || known.int64(3) == 0 else { return nil }
            _ = try NodeCounts.end(configuration.node, silentForSeconds: 0, on: connection)
            let number = NodeNumber(rawValue: Int(known.int64(0)))
            let ceiling = NotificationIDs.reached(fromCeiling: known.int64(1))
            let instance = NotificationIDs.instance(
                of: number, atUnixMilliseconds: time, above: max(ceiling, known.int64(2)))
            try update(instance, number)
            return instance
        }
    }

    /// Registers the instance from shard 0 in another shard.
    func register(_ instance: InstanceID) throws(PostgresStoreError) {
        do throws(SQLError) {
            try connection.transaction(isolation: .readCommitted) { () throws(SQLError) in
                let delete = try connection.prepare("DELETE FROM nodes WHERE number = ? OR name = ?")
                delete.bind(Int64(instance.node.rawValue), at: 1)
                delete.bind(configuration.node, at: 2)
                try delete.run()
                try insert(instance, instance.node)
            }
        } catch {
            throw .unreachable(error)
        }
    }

    /// Refuses to start beside a node to which this one can have no link.
    private func checkLinks() throws(SQLError) {
        let others = try connection.prepare(
            """
            SELECT count(*), count(address) FROM nodes
            WHERE name <> ? AND seen_at > clock_timestamp() - interval '3 seconds'
            """)
        others.bind(configuration.node, at: 1)
        defer { others.reset() }
        guard try others.step(), others.int64(0) > 0 else { return }
        guard configuration.links != nil, others.int64(0) == others.int64(1) else {
            throw SQLError(kind: .refused, code: Self.noLinks, message: "a node has no address", subject: "nodes")
        }
    }

    /// Refuses to start beside as many nodes as a cluster can have, because further nodes would get no links.
    ///
    /// Nodes keep their links to a node for some time after its last heartbeat, so it counts for as long.
    private func checkNodeCount() throws(SQLError) {
        let others = try connection.prepare(
            """
            SELECT count(*) FROM nodes
            WHERE name <> ? AND seen_at > clock_timestamp() - make_interval(secs => ?::bigint)
            """)
        others.bind(configuration.node, at: 1)
        others.bind(ClusterLimits.linkMilliseconds / 1_000, at: 2)
        defer { others.reset() }
        guard try others.step(), others.int64(0) >= LinkSettings.nodeCountMax else { return }
        throw SQLError(kind: .refused, code: Self.noPlace, message: "too many nodes run", subject: "nodes")
    }

    /// Returns the UNIX time in milliseconds for the number of the instance.
    ///
    /// All later numbers of the node are above that of the instance. So a clock of PostgreSQL that is ahead must not
    /// raise the number of the instance.
    private func milliseconds() throws(SQLError) -> Int64 {
        let statement = try connection.prepare("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")
        defer { statement.reset() }
        return min(try statement.step() ? statement.int64(0) : 0, configuration.store.now().unixMilliseconds)
    }

    private func freeNumber() throws(SQLError) -> NodeNumber {
        let statement = try connection.prepare(
            """
            SELECT min(n) FROM generate_series(0, 1023) AS n WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE number = n)
            """)
        defer { statement.reset() }
        guard try statement.step(), let number = statement.optionalInt64(0) else {
            throw SQLError(kind: .refused, code: Self.noNumber, message: "no number is free", subject: "nodes")
        }
        return NodeNumber(rawValue: Int(number))
    }

    private func insert(_ instance: InstanceID, _ number: NodeNumber) throws(SQLError) {
        let statement = try connection.prepare(
            """
            INSERT INTO nodes(number, name, instance, seen_at, id_ceiling, speaks, version, draining, address)
            VALUES (?, ?, ?, clock_timestamp(), ?, ?, ?, 0, ?)
            """)
        statement.bind(Int64(number.rawValue), at: 1)
        statement.bind(configuration.node, at: 2)
        statement.bind(instance.rawValue, at: 3)
        statement.bind(instance.rawValue, at: 4)
        statement.bind(Self.protocolVersion, at: 5)
        statement.bind(configuration.version, at: 6)
        statement.bind(configuration.links?.address.text, at: 7)
        try statement.run()
    }

    /// Changes the row of a node that starts again, which stays drained unless it was upgraded.
    private func update(_ instance: InstanceID, _ number: NodeNumber) throws(SQLError) {
        let statement = try connection.prepare(
            """
            UPDATE nodes SET instance = ?, seen_at = clock_timestamp(), id_ceiling = ?,
                draining = CASE WHEN version = ? THEN least(draining, 1) ELSE 0 END, version = ?,
                heard_transaction = 0, speaks = ?, address = ?, secrets_version = 0, key_rotation = 0 WHERE number = ?
            """)
        statement.bind(instance.rawValue, at: 1)
        statement.bind(instance.rawValue, at: 2)
        statement.bind(configuration.version, at: 3)
        statement.bind(configuration.version, at: 4)
        statement.bind(Self.protocolVersion, at: 5)
        statement.bind(configuration.links?.address.text, at: 6)
        statement.bind(Int64(number.rawValue), at: 7)
        try statement.run()
    }
}
