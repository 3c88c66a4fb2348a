// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Signing keys of providers, public halves only; revoked ones stay.
final class KeyTable {
    private let insert: Statement
    private let insertTopic: Statement
    private let selectRevoked: Statement
    private let selectAll: Statement
    private let selectTopics: Statement
    private let revoke: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare(
            """
            INSERT INTO keys(id, team, scoped, public_key, created_at, revoked_at, environment)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """)
        insertTopic = try connection.prepare("INSERT INTO key_topics VALUES (?, ?, ?)")
        selectRevoked = try connection.prepare("SELECT revoked_at FROM keys WHERE id = ?")
        selectAll = try connection.prepare(

            """
            SELECT id, team, scoped, public_key, created_at, revoked_at, environment FROM keys
            ORDER BY created_at, id
            """)
        selectTopics = try connection.prepare("SELECT topic FROM key_topics WHERE key = ? ORDER BY position")
        revoke = try connection.prepare("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL")
    }

    /// Whether a key with this id was ever added.
    func contains(_ id: String) throws(SQLiteError) -> Bool {
        selectRevoked.bind(id, at: 1)
        defer { selectRevoked.reset() }
        return try selectRevoked.step()
    }

    /// Adds a key whose id is new.
    func add(_ key: SigningKey) throws(SQLiteError) {
        insert.bind(key.id, at: 1)
        insert.bind(key.teamID, at: 2)
        insert.bind(key.topics == nil ? 0 : 1, at: 3)
        insert.bind(key.publicKey, at: 4)
        insert.bind(key.createdUnixSeconds, at: 5)
        insert.bind(key.revokedUnixSeconds, at: 6)
        insert.bind(key.environment?.rawValue, at: 7)
        try insert.run()
        for (position, topic) in (key.topics ?? []).enumerated() {
            insertTopic.bind(key.id, at: 1)
            insertTopic.bind(Int64(position), at: 2)
            insertTopic.bind(topic, at: 3)
            try insertTopic.run()
        }
    }

    /// Revokes a key for ever; one that is revoked already keeps its time.
    func revoke(_ id: String, nowUnixSeconds: Int64) throws(SQLiteError) {
        revoke.bind(nowUnixSeconds, at: 1)
        revoke.bind(id, at: 2)
        try revoke.run()
    }

    /// All keys, oldest first, revoked ones too.
    func all() throws(SQLiteError) -> [SigningKey] {
        var keys: [SigningKey] = []
        while try selectAll.step() {
            let id = selectAll.string(0)
            keys.append(
                SigningKey(
                    id: id, teamID: selectAll.string(1), topics: selectAll.int64(2) == 0 ? nil : try topics(of: id),
                    publicKey: selectAll.bytes(3), createdUnixSeconds: selectAll.int64(4),
                    revokedUnixSeconds: selectAll.optionalInt64(5),
                    environment: selectAll.optionalString(6).flatMap(Environment.init(rawValue:))))
        }
        return keys
    }

    private func topics(of id: String) throws(SQLiteError) -> [String] {
        var topics: [String] = []
        selectTopics.bind(id, at: 1)
        while try selectTopics.step() { topics.append(selectTopics.string(0)) }
        return topics
    }
}
