// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore
internal import PushTLS

/// The table `secrets` in PostgreSQL, and the columns of `nodes` that say which node has read it.
struct SecretTable {
    /// The key of the advisory lock: `Secret` in ASCII.
    private static let lockKey: Int64 = 0x53_6563_7265_74

    let connection: PostgresConnection

    /// Waits for other sessions that change the secrets, until the session ends.
    func lockForSession() throws(SQLError) { try lock("SELECT pg_advisory_lock(?)") }

    /// Waits for other sessions that change the secrets, until the transaction ends.
    func lockForTransaction() throws(SQLError) { try lock("SELECT pg_advisory_xact_lock(?)") }

    private func lock(_ sql: StaticString) throws(SQLError) {
        let statement = try connection.prepare(sql)
        statement.bind(Self.lockKey, at: 1)
        try statement.run()
    }

    /// Reads all rows and versions in one statement.
    func read() throws(SQLError) -> SealedRows {
        let statement = try connection.prepare(
            """
            SELECT 0::bigint, name, sealed, 0::bigint FROM secrets
            UNION ALL SELECT 1::bigint, name, NULL, value FROM state WHERE name IN ('secrets_version', 'key_rotation')
            UNION ALL SELECT 2::bigint, '', NULL, version FROM control
            """)
        defer { statement.reset() }
        var rows = SealedRows()
        while try statement.step() {
            switch (statement.int64(0), statement.string(1)) {
            case (0, let name): rows.sealed[name] = statement.bytes(2)
            case (1, "secrets_version"): rows.version = statement.int64(3)
            case (1, _): rows.rotation = statement.int64(3)
            default: rows.controlVersion = statement.int64(3)
            }
        }
        return rows
    }

    /// Adds a secret, or replaces it.
    func set(_ sealed: [UInt8], name: String) throws(SQLError) {
        let statement = try connection.prepare(
            "INSERT INTO secrets(name, sealed) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed")
        statement.bind(name, at: 1)
        statement.bind(sealed, at: 2)
        try statement.run()
    }

    /// Seals a secret, and adds or replaces it.
    func set(_ secret: [UInt8], _ name: String, sealedBy key: ClusterKey) throws(SQLError) {
        let sealed: [UInt8]
        do throws(TLSError) {
            sealed = try SealedSecrets(key).seal(secret, name: name)
        } catch {
            throw SQLError(kind: .refused, code: "seal", message: "cannot seal \(name): \(error)", subject: "secrets")
        }
        try set(sealed, name: name)
    }

    func remove(_ name: String) throws(SQLError) {
        let statement = try connection.prepare("DELETE FROM secrets WHERE name = ?")
        statement.bind(name, at: 1)
        try statement.run()
    }

    /// Raises the version of the secrets, and that of the control data, so that each node reads them; returns the former.
    func raiseVersion() throws(SQLError) -> Int64 {
        try connection.execute("UPDATE control SET version = version + 1")
        let statement = try connection.prepare(
            """
            INSERT INTO state(name, value) VALUES ('secrets_version', 1)
            ON CONFLICT (name) DO UPDATE SET value = state.value + 1 RETURNING value
            """)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : 0
    }

    /// Notes the version at which a rotation of the cluster's key began; 0 without a rotation.
    func setRotation(_ version: Int64) throws(SQLError) {
        let statement = try connection.prepare(
            """
            INSERT INTO state(name, value) VALUES ('key_rotation', ?)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """)
        statement.bind(version, at: 1)
        try statement.run()
    }

    // MARK: Nodes

    /// Notes that a node uses the secrets of a version, and has the next key of a rotation.
    func confirm(_ instance: InstanceID, version: Int64, rotation: Int64) throws(SQLError) {
        let statement = try connection.prepare(
            """
            UPDATE nodes SET secrets_version = ?, key_rotation = ?
            WHERE instance = ? AND (secrets_version <> ? OR key_rotation <> ?)
            """)
        statement.bind(version, at: 1)
        statement.bind(rotation, at: 2)
        statement.bind(instance.rawValue, at: 3)
        statement.bind(version, at: 4)
        statement.bind(rotation, at: 5)
        try statement.run()
    }

    /// A node, and what it has confirmed.
    struct Reader {
        var name: String
        var version: Int64
        var rotation: Int64
        /// Whether the node had a heartbeat lately, so that it may have a lease.
        var isLive: Bool
    }

    /// Returns all nodes by name.
    func readers() throws(SQLError) -> [Reader] {
        let statement = try connection.prepare(
            """
            SELECT coalesce(name, ''), secrets_version, key_rotation,
                seen_at > clock_timestamp() - make_interval(secs => ?::bigint) FROM nodes ORDER BY name
            """)
        statement.bind(NodeChange.silenceSeconds, at: 1)
        defer { statement.reset() }
        var readers: [Reader] = []
        while try statement.step() {
            readers.append(
                Reader(
                    name: statement.string(0), version: statement.int64(1), rotation: statement.int64(2),
                    isLive: statement.int64(3) != 0))
        }
        return readers
    }
}
