// SPDX-License-Identifier: Apache-2.0

package import PushSQL

/// The tables of a store in PostgreSQL, which all nodes share.
///
/// The tables that SQLite also has are described at `Schema`. The columns of both engines have the same names and order.
/// Numbers are `bigint`. The texts that a statement compares sort by their bytes, as in SQLite.
///
/// Tables of devices have no foreign keys to control tables, because these are in shard 0 only.
///
/// - `pending` has one index. `key` is the notification's ID; for a collapse ID it is a negative hash instead.
/// - `hosts` has the instance of the node at which each device is connected; 0 after the stream ended. The earlier
///   instance is the one that the current one replaced.
/// - `nodes` has a row for each number of a node. `id_ceiling` is above all IDs that the node had assigned at its last
///   heartbeat. The node has read `changes` of all transactions before `heard_transaction`. `address` is where other
///   nodes connect; NULL for a node without links. `counts` has the events of the instance as a JSON object; the
///   events of earlier instances are in `state`, see `NodeCounts`. `secrets_version` is that of the secrets that the node
///   uses, and `key_rotation` is that of the rotation whose next cluster key it has.
/// - `control` counts the changes of control data.
/// - `slots` has the shard of each slot. `moved_slots`, in each shard, has the slots that have moved from this shard to
///   another one. So a node that knows only an earlier assignment changes no device of these slots.
/// - `changes` lists connected devices of which a node could not inform the host. Rows stay for a minute. `transaction` is
///   the transaction that inserted the row. A heartbeat reads the rows of transactions that had not ended at the
///   heartbeat before.
/// - `quota_uses` has a row for each node and subject.
/// - `trace` is one stream that all nodes extend, and `trace_end` has its end. `first_id` and `last_id` are those of the
///   notifications that are accepted in the row; 0 without any.
package enum PostgresSchema {
    /// Runs statements in a transaction, and rolls back when they fail.
    package typealias Transaction = (_ body: () throws(SQLError) -> Void) throws(SQLError) -> Void

    /// The version that `state` holds under `schema_version`.
    ///
    /// During an upgrade, a later version of the program adds to the tables, and records under `least_version` the
    /// lowest version whose programs can still use them. `posthorn cluster finish-upgrade` then raises it.
    static let version = 1
    /// The key of the advisory lock for changes of the schema: `Posthorn` in ASCII.
    private static let lockKey: Int64 = 0x506f_7374_686f_726e

    /// Creates the tables in the current schema, or checks the version of existing ones.
    ///
    /// If no schema of the `search_path` exists, this also creates the schema `posthorn`.
    ///
    /// An advisory lock of the session makes other nodes wait meanwhile. It must be taken before the transaction, whose
    /// snapshot would otherwise not contain the tables that another node has just created.
    ///
    /// - Parameters:
    ///   - database: A connection whose `search_path` starts with the schema. Close it afterwards, because it keeps the
    ///     statements prepared.
    ///   - address: The address of the server, for error messages.
    ///   - transaction: Runs statements in a transaction.
    /// - Throws: `newerSchema` for a version that this program cannot use, or the classified failure.
    package static func open(
        _ database: any SQLDatabase, at address: String, transaction: Transaction
    ) throws(StoreError) {
        let (found, least): (Int, Int)
        do {
            (found, least) = try create(in: database, transaction)
        } catch {
            throw StoreError(error, path: address)
        }
        guard least <= version, version <= found else {
            throw .newerSchema(path: address, found: found, known: version)
        }
    }

    /// Creates the tables unless they exist; returns their version, and the lowest version that can use them.
    private static func create(
        in database: any SQLDatabase, _ transaction: Transaction
    ) throws(SQLError) -> (found: Int, least: Int) {
        try run("SELECT pg_advisory_lock(?)", on: database)
        // If this fails, the connection is lost, and the lock with it.
        defer { try? run("SELECT pg_advisory_unlock(?)", on: database) }
        try transaction { () throws(SQLError) in
            guard try !exists(in: database) else { return }
            if try !hasSchema(database) { try database.prepare("CREATE SCHEMA posthorn").run() }
            for statement in statements { try database.prepare(statement).run() }
        }
        let found = try storedVersion(in: database)
        return (found, try storedVersion("least_version", in: database) ?? found)
    }

    /// Returns the version of existing tables; 0 if they have none, and nil without tables.
    static func foundVersion(in database: any SQLDatabase) throws(SQLError) -> Int? {
        try exists(in: database) ? storedVersion(in: database) : nil
    }

    private static func run(_ sql: StaticString, on database: any SQLDatabase) throws(SQLError) {
        let statement = try database.prepare(sql)
        statement.bind(lockKey, at: 1)
        try statement.run()
    }

    private static func hasSchema(_ database: any SQLDatabase) throws(SQLError) -> Bool {
        let statement = try database.prepare("SELECT 1 WHERE current_schema() IS NOT NULL")
        defer { statement.reset() }
        return try statement.step()
    }

    private static func exists(in database: any SQLDatabase) throws(SQLError) -> Bool {
        let statement = try database.prepare(
            "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'state'")
        defer { statement.reset() }
        return try statement.step() && statement.int64(0) > 0
    }

    /// Returns the version of existing tables; 0 if they have none.
    private static func storedVersion(in database: any SQLDatabase) throws(SQLError) -> Int {
        try storedVersion("schema_version", in: database) ?? 0
    }

    private static func storedVersion(_ name: String, in database: any SQLDatabase) throws(SQLError) -> Int? {
        let statement = try database.prepare("SELECT value FROM state WHERE name = ?")
        statement.bind(name, at: 1)
        defer { statement.reset() }
        return try statement.step() ? Int(statement.int64(0)) : nil
    }

    private static var statements: [StaticString] { controlTables + deviceTables + clusterTables }

    private static let controlTables: [StaticString] = [
        #"CREATE TABLE state(name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL)"#,
        """
        CREATE TABLE topics(
            id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, topic text COLLATE "C" NOT NULL,
            name text NOT NULL, team text NOT NULL, added_at_ms bigint NOT NULL, removed_at_ms bigint,
            checks text NOT NULL DEFAULT 'warn', broadcasts bigint NOT NULL DEFAULT 0)
        """,
        "CREATE UNIQUE INDEX topics_live ON topics(topic) WHERE removed_at_ms IS NULL",
        """
        CREATE TABLE keys(
            id text COLLATE "C" PRIMARY KEY, team text NOT NULL, scoped bigint NOT NULL, public_key bytea NOT NULL,
            created_at bigint NOT NULL, revoked_at bigint, environment text)
        """,
        "CREATE INDEX keys_by_age ON keys(created_at, id)",
        """
        CREATE TABLE key_topics(
            key text COLLATE "C" NOT NULL REFERENCES keys(id), position bigint NOT NULL, topic text NOT NULL,
            PRIMARY KEY (key, position))
        """,
        """
        CREATE TABLE certificates(
            fingerprint bytea PRIMARY KEY, serial_number text NOT NULL, team text NOT NULL, environment text,
            created_at bigint NOT NULL, expires_at bigint NOT NULL, revoked_at bigint)
        """,
        "CREATE INDEX certificates_by_age ON certificates(created_at, fingerprint)",
        """
        CREATE TABLE certificate_topics(
            certificate bytea NOT NULL REFERENCES certificates(fingerprint), position bigint NOT NULL,
            topic text NOT NULL, PRIMARY KEY (certificate, position))
        """,
        """
        CREATE TABLE send_tokens(
            id bytea PRIMARY KEY, hash bytea NOT NULL UNIQUE, topic bigint NOT NULL REFERENCES topics(id),
            name text NOT NULL, created_at bigint NOT NULL, expires_at bigint)
        """,
        """
        CREATE TABLE enrolment_codes(
            hash bytea PRIMARY KEY, expires_at bigint NOT NULL, used_at_ms bigint, device bigint, request_hash bytea)
        """,
        """
        CREATE TABLE policies(
            device bigint NOT NULL, topic text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
            value text NOT NULL, locked bigint NOT NULL, PRIMARY KEY (device, topic, name))
        """,
        """
        CREATE TABLE channels(
            number bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, id bytea NOT NULL UNIQUE,
            topic bigint NOT NULL REFERENCES topics(id), environment text NOT NULL, policy bigint NOT NULL,
            created_at_ms bigint NOT NULL)
        """,
        "CREATE INDEX channels_by_topic ON channels(topic, environment)",
        "CREATE INDEX channels_of_topic ON channels(topic, number)",
        """
        CREATE TABLE broadcasts(
            sequence bigint PRIMARY KEY, channel bigint NOT NULL UNIQUE REFERENCES channels(number),
            expires_at_ms bigint NOT NULL, accepted_at_ms bigint NOT NULL, unique_high bigint NOT NULL,
            unique_low bigint NOT NULL, request_id bytea NOT NULL, topic_name text NOT NULL, priority bigint,
            expiration bigint NOT NULL, payload bytea NOT NULL, checksum bigint NOT NULL)
        """,
        "CREATE INDEX broadcasts_by_expiry ON broadcasts(expires_at_ms)",
        """
        CREATE TABLE quotas(
            kind text NOT NULL, name text NOT NULL, rate bigint, burst bigint, daily bigint, bad_tokens bigint,
            PRIMARY KEY (kind, name))
        """,
        """
        CREATE TABLE quota_uses(
            kind text NOT NULL, name text NOT NULL, day bigint NOT NULL, used bigint NOT NULL, node bigint NOT NULL,
            PRIMARY KEY (kind, name, node))
        """,
        """
        CREATE TABLE webhooks(
            topic bigint PRIMARY KEY REFERENCES topics(id), url text NOT NULL, secret bytea NOT NULL,
            position bigint NOT NULL, failing_at_ms bigint, problem text)
        """,
    ]

    private static let deviceTables: [StaticString] = [
        """
        CREATE TABLE devices(
            id bigint PRIMARY KEY, secret_hash bytea UNIQUE, name text NOT NULL, platform text NOT NULL,
            enrolled_at_ms bigint NOT NULL, removed_at_ms bigint, seen_at_ms bigint,
            dormant bigint NOT NULL DEFAULT 0, agent text NOT NULL DEFAULT '', enrolled_under bytea,
            authority_version bigint NOT NULL DEFAULT 0)
        """,
        "CREATE INDEX devices_by_seen ON devices(seen_at_ms) WHERE removed_at_ms IS NULL AND dormant = 0",
        "CREATE INDEX devices_by_enrolment ON devices(enrolled_at_ms, id) WHERE removed_at_ms IS NULL",
        """
        CREATE TABLE registrations(
            device bigint NOT NULL REFERENCES devices(id), topic bigint NOT NULL, generation bigint NOT NULL,
            live bigint NOT NULL, refused bigint NOT NULL, registered_at_ms bigint NOT NULL, ended_at_ms bigint,
            environment text NOT NULL DEFAULT 'production', expired bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (device, topic))
        """,
        "CREATE INDEX registrations_by_topic ON registrations(topic, device) WHERE live = 1",
        """
        CREATE TABLE filters(
            device bigint NOT NULL REFERENCES devices(id), topic text COLLATE "C" NOT NULL,
            PRIMARY KEY (device, topic))
        """,
        """
        CREATE TABLE subscriptions(
            position bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
            device bigint NOT NULL REFERENCES devices(id), topic bigint NOT NULL, channel bigint NOT NULL,
            since bigint NOT NULL)
        """,
        "CREATE UNIQUE INDEX subscriptions_by_device ON subscriptions(device, topic, channel)",
        "CREATE INDEX subscriptions_by_channel ON subscriptions(channel)",
        "CREATE TABLE delivery_histories(device bigint PRIMARY KEY, entries bytea NOT NULL)",
        """
        CREATE TABLE pending(
            device bigint, key bigint, id bigint NOT NULL, topic bigint NOT NULL, expires_at_ms bigint,
            record bytea NOT NULL, PRIMARY KEY (device, key))
            WITH (fillfactor=90, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_cost_limit=2000)
        """,
        // A record fits into a page, so it is neither compressed nor moved to another table.
        "ALTER TABLE pending ALTER record SET STORAGE PLAIN",
        """
        CREATE TABLE hosts(
            device bigint PRIMARY KEY, instance bigint NOT NULL, epoch bigint NOT NULL, earlier_instance bigint,
            earlier_epoch bigint, left_at_ms bigint) WITH (fillfactor=60)
        """,
        """
        CREATE TABLE trace(
            position bigint PRIMARY KEY, node int NOT NULL, first_at_ms bigint NOT NULL, last_at_ms bigint NOT NULL,
            first_id bigint NOT NULL, last_id bigint NOT NULL, events bytea NOT NULL)
        """,
        "CREATE INDEX trace_by_last_id ON trace(last_id, position) WHERE last_id > 0",
        "CREATE TABLE trace_end(position bigint NOT NULL) WITH (fillfactor=10)",
        "INSERT INTO trace_end VALUES (0)",
    ]

    private static let clusterTables: [StaticString] = [
        """
        CREATE TABLE nodes(
            number int PRIMARY KEY, name text UNIQUE, instance bigint NOT NULL, seen_at timestamptz NOT NULL,
            id_ceiling bigint NOT NULL, heard_transaction bigint NOT NULL DEFAULT 0, speaks int NOT NULL,
            version text NOT NULL, draining bigint NOT NULL, address text, counts bytea,
            secrets_version bigint NOT NULL DEFAULT 0, key_rotation bigint NOT NULL DEFAULT 0)
        """,
        "CREATE TABLE control(version bigint NOT NULL)",
        "INSERT INTO control VALUES (0)",
        """
        CREATE TABLE changes(
            position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, device bigint NOT NULL, at_ms bigint NOT NULL,
            transaction bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint)
        """,
        "CREATE INDEX changes_of_transaction ON changes(transaction)",
        """
        CREATE TABLE slots(
            slot int PRIMARY KEY, shard int NOT NULL, moving_to int, former int, moved_at_ms bigint)
        """,
        "CREATE TABLE moved_slots(slot int PRIMARY KEY, move bigint NOT NULL)",
        "CREATE TABLE secrets(name text PRIMARY KEY, sealed bytea NOT NULL)",
        "INSERT INTO state VALUES ('schema_version', 1)",
    ]
}
