// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Signing keys of providers, public keys only; revoked ones stay.
final class KeyTable {
    /// The position after which a list continues.
    typealias ListCursor = (createdAt: Timestamp, id: String)

    private let insert: any SQLStatement
    private let insertTopic: any SQLStatement
    private let selectRevoked: any SQLStatement
    private let selectAll: any SQLStatement
    private let selectPage: any SQLStatement
    private let selectTopics: any SQLStatement
    private let revoke: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
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
        selectPage = try connection.prepare(
            """
            SELECT id, team, scoped, public_key, created_at, revoked_at, environment FROM keys
            WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?
            """)
        selectTopics = try connection.prepare("SELECT topic FROM key_topics WHERE key = ? ORDER BY position")
        revoke = try connection.prepare("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL")
    }

    /// Returns whether a key with this ID was ever added.
    func contains(_ id: String) throws(SQLError) -> Bool {
        selectRevoked.bind(id, at: 1)
        defer { selectRevoked.reset() }
        return try selectRevoked.step()
    }

    /// Adds a key with a new ID.
    func add(_ key: SigningKey) throws(SQLError) {
        insert.bind(key.id, at: 1)
        insert.bind(key.teamID, at: 2)
        insert.bind(key.topics == nil ? 0 : 1, at: 3)
        insert.bind(key.publicKey, at: 4)
        insert.bind(key.createdAt.unixSeconds, at: 5)
        insert.bind(key.revokedAt?.unixSeconds, at: 6)
        insert.bind(key.environment?.rawValue, at: 7)
        try insert.run()
        for (position, topic) in (key.topics ?? []).enumerated() {
            insertTopic.bind(key.id, at: 1)
            insertTopic.bind(Int64(position), at: 2)
            insertTopic.bind(topic.text, at: 3)
            try insertTopic.run()
        }
    }

    /// Revokes a key permanently; one that is already revoked keeps its time.
    func revoke(_ id: String, now: Timestamp) throws(SQLError) {
        revoke.bind(now.unixSeconds, at: 1)
        revoke.bind(id, at: 2)
        try revoke.run()
    }

    /// Returns all keys, oldest first, including revoked ones.
    func all() throws(SQLError) -> [SigningKey] {
        var keys: [SigningKey] = []
        while try selectAll.step() { keys.append(try key(of: selectAll)) }
        return keys
    }

    /// Returns the next keys after one, oldest first, including revoked ones.
    func page(after cursor: ListCursor?, countMax: Int) throws(SQLError) -> ListPage<SigningKey, ListCursor> {
        selectPage.bind(cursor?.createdAt.unixSeconds ?? .min, at: 1)
        selectPage.bind(cursor?.id ?? "", at: 2)
        selectPage.bind(Int64(countMax), at: 3)
        return try selectPage.page(countMax: countMax) { (row) throws(SQLError) in
            try key(of: row)
        } key: {
            (Timestamp(unixSeconds: $0.int64(4)), $0.string(0))
        }
    }

    private func key(of row: any SQLStatement) throws(SQLError) -> SigningKey {
        let id = row.string(0)
        return SigningKey(
            id: id, teamID: row.string(1), topics: row.int64(2) == 0 ? nil : try topics(of: id),
            publicKey: row.bytes(3), createdAt: Timestamp(unixSeconds: row.int64(4)),
            revokedAt: row.optionalInt64(5).map(Timestamp.init(unixSeconds:)),
            environment: row.optionalString(6).flatMap(Environment.init(rawValue:)))
    }

    private func topics(of id: String) throws(SQLError) -> [TopicName] {
        var topics: [TopicName] = []
        selectTopics.bind(id, at: 1)
        while try selectTopics.step() { topics.append(TopicName(selectTopics.string(0))) }
        return topics
    }
}
