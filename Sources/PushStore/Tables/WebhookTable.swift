// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The webhooks of apps, with the position in the trace up to which each back-end has received the events.
final class WebhookTable {
    private let upsert: any SQLStatement
    private let selectAll: any SQLStatement
    private let selectOne: any SQLStatement
    private let updatePosition: any SQLStatement
    private let updateProblem: any SQLStatement
    private let delete: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        upsert = try connection.prepare(
            """
            INSERT INTO webhooks(topic, url, secret, position) VALUES (?, ?, ?, ?)
            ON CONFLICT (topic) DO UPDATE
            SET url = excluded.url, secret = excluded.secret, problem = NULL, failing_at_ms = NULL
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

    /// Sets an app's webhook; an existing one keeps its position.
    func set(_ topic: TopicID, url: String, secret: [UInt8], position: Int64) throws(SQLError) {
        upsert.bind(Int64(topic.rawValue), at: 1)
        upsert.bind(url, at: 2)
        upsert.bind(secret, at: 3)
        upsert.bind(position, at: 4)
        try upsert.run()
    }

    /// Returns all webhooks, by app.
    func all() throws(SQLError) -> [TopicID: Webhook] {
        var webhooks: [TopicID: Webhook] = [:]
        while try selectAll.step() { webhooks[TopicID(stored: selectAll.int64(0))] = Webhook(row: selectAll) }
        return webhooks
    }

    /// Returns the webhook of an app.
    func find(_ topic: TopicID) throws(SQLError) -> Webhook? {
        selectOne.bind(Int64(topic.rawValue), at: 1)
        defer { selectOne.reset() }
        return try selectOne.step() ? Webhook(row: selectOne) : nil
    }

    /// Records that the back-end has received all events up to a position.
    func advance(_ topic: TopicID, to position: Int64) throws(SQLError) {
        updatePosition.bind(position, at: 1)
        updatePosition.bind(Int64(topic.rawValue), at: 2)
        updatePosition.bind(position, at: 3)
        try updatePosition.run()
    }

    /// Records a failed request, and the time of the first one in a row.
    func noteProblem(_ topic: TopicID, _ problem: String, now: Timestamp) throws(SQLError) {
        updateProblem.bind(problem, at: 1)
        updateProblem.bind(now.unixMilliseconds, at: 2)
        updateProblem.bind(Int64(topic.rawValue), at: 3)
        try updateProblem.run()
    }

    /// Removes an app's webhook.
    func remove(_ topic: TopicID) throws(SQLError) {
        delete.bind(Int64(topic.rawValue), at: 1)
        try delete.run()
    }
}

extension Webhook {
    fileprivate init(row: any SQLStatement) {
        self.init(
            url: row.string(1), secret: row.bytes(2), position: row.int64(3),
            failingSince: row.optionalInt64(4).map(Timestamp.init(unixMilliseconds:)), problem: row.optionalString(5))
    }
}
