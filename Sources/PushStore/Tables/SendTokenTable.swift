// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The hashes of the tokens with which scripts send.
final class SendTokenTable {
    private let insert: any SQLStatement
    private let selectAll: any SQLStatement
    private let find: any SQLStatement
    private let delete: any SQLStatement
    private let deleteAll: any SQLStatement
    private let deleteExpired: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        insert = try connection.prepare(
            "INSERT INTO send_tokens(id, hash, topic, name, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)")
        selectAll = try connection.prepare(
            "SELECT hash, topic, name, created_at, expires_at FROM send_tokens ORDER BY created_at, id")
        find = try connection.prepare(
            "SELECT hash, topic, name, created_at, expires_at FROM send_tokens WHERE id = ?")
        delete = try connection.prepare("DELETE FROM send_tokens WHERE id = ?")
        deleteAll = try connection.prepare("DELETE FROM send_tokens WHERE topic = ?")
        deleteExpired = try connection.prepare("DELETE FROM send_tokens WHERE expires_at < ?")
    }

    /// Adds a token with a new ID.
    func add(_ token: SendToken) throws(SQLError) {
        insert.bind(token.id, at: 1)
        insert.bind(token.hash, at: 2)
        insert.bind(Int64(token.topic.rawValue), at: 3)
        insert.bind(token.name, at: 4)
        insert.bind(token.createdAt.unixSeconds, at: 5)
        insert.bind(token.expiresAt?.unixSeconds, at: 6)
        try insert.run()
    }

    /// Returns all tokens, oldest first.
    func all() throws(SQLError) -> [SendToken] {
        var tokens: [SendToken] = []
        while try selectAll.step() { tokens.append(SendToken(row: selectAll)) }
        return tokens
    }

    /// Returns the token with an ID.
    func find(_ id: [UInt8]) throws(SQLError) -> SendToken? {
        find.bind(id, at: 1)
        defer { find.reset() }
        return try find.step() ? SendToken(row: find) : nil
    }

    /// Deletes the token with an ID.
    func remove(_ id: [UInt8]) throws(SQLError) {
        delete.bind(id, at: 1)
        try delete.run()
    }

    /// Deletes the tokens of a removed app.
    func removeAll(of topic: TopicID) throws(SQLError) {
        deleteAll.bind(Int64(topic.rawValue), at: 1)
        try deleteAll.run()
    }

    /// Deletes the tokens that have expired.
    func removeExpired(now: Timestamp) throws(SQLError) {
        deleteExpired.bind(now.unixSeconds, at: 1)
        try deleteExpired.run()
    }
}

extension SendToken {
    fileprivate init(row: any SQLStatement) {
        self.init(
            hash: row.bytes(0), topic: TopicID(stored: row.int64(1)), name: row.string(2),
            createdAt: Timestamp(unixSeconds: row.int64(3)),
            expiresAt: row.optionalInt64(4).map(Timestamp.init(unixSeconds:)))
    }
}
