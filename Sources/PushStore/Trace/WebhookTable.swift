// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Where the back-ends of apps want to hear what became of notifications, and how far they have heard.
final class WebhookTable {
    private let upsert: Statement
    private let selectAll: Statement
    private let selectOne: Statement
    private let updatePosition: Statement
    private let updateProblem: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        upsert = try connection.prepare(
            """
            INSERT INTO webhooks(topic, url, secret, position) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET url = excluded.url, secret = excluded.secret, problem = NULL, failing_at_ms = NULL
            """)
        selectAll = try connection.prepare(
            "SELECT topic, url, secret, position, failing_at_ms, problem FROM webhooks ORDER BY topic")
        selectOne = try connection.prepare(
            "SELECT topic, url, secret, position, failing_at_ms, problem FROM webhooks WHERE topic = ?")
        updatePosition = try connection.prepare(
            """
            UPDATE webhooks SET position = ?, problem = NULL, failing_at_ms = NULL
            WHERE topic = ? AND position < ?
            """)
        updateProblem = try connection.prepare(
            "UPDATE webhooks SET problem = ?, failing_at_ms = coalesce(failing_at_ms, ?) WHERE topic = ?")
        delete = try connection.prepare("DELETE FROM webhooks WHERE topic = ?")
    }

    /// Sets an app's webhook; one that is there goes on where it is.
    func set(_ topic: TopicID, url: String, secret: [UInt8], position: Int64) throws(SQLiteError) {
        upsert.bind(Int64(topic.rawValue), at: 1)
        upsert.bind(url, at: 2)
        upsert.bind(secret, at: 3)
        upsert.bind(position, at: 4)
        try upsert.run()
    }

    /// All, by app.
    func all() throws(SQLiteError) -> [TopicID: Webhook] {
        var webhooks: [TopicID: Webhook] = [:]
        while try selectAll.step() { webhooks[TopicID(stored: selectAll.int64(0))] = Webhook(row: selectAll) }
        return webhooks
    }

    /// An app's.
    func find(_ topic: TopicID) throws(SQLiteError) -> Webhook? {
        selectOne.bind(Int64(topic.rawValue), at: 1)
        defer { selectOne.reset() }
        return try selectOne.step() ? Webhook(row: selectOne) : nil
    }

    /// Notes that the back-end has everything up to a position.
    func advance(_ topic: TopicID, to position: Int64) throws(SQLiteError) {
        updatePosition.bind(position, at: 1)
        updatePosition.bind(Int64(topic.rawValue), at: 2)
        updatePosition.bind(position, at: 3)
        try updatePosition.run()
    }

    /// Notes that the back-end does not take it, and since when.
    func noteProblem(_ topic: TopicID, _ problem: String, now: Int64) throws(SQLiteError) {
        updateProblem.bind(problem, at: 1)
        updateProblem.bind(now, at: 2)
        updateProblem.bind(Int64(topic.rawValue), at: 3)
        try updateProblem.run()
    }

    /// Forgets an app's webhook.
    func remove(_ topic: TopicID) throws(SQLiteError) {
        delete.bind(Int64(topic.rawValue), at: 1)
        try delete.run()
    }
}

extension Webhook {
    fileprivate init(row: Statement) {
        self.init(
            url: row.string(1), secret: row.bytes(2), position: row.int64(3),
            failingUnixMilliseconds: row.optionalInt64(4), problem: row.optionalString(5))
    }
}
