// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Apps, each with its topic; a removed app stays as a tombstone and its number is never reused.
final class TopicTable {
    struct Row {
        var topic: Topic
        var displayName: String
    }

    private let insert: any SQLStatement
    private let update: any SQLStatement
    private let selectByName: any SQLStatement
    private let selectAll: any SQLStatement
    private let selectName: any SQLStatement
    private let selectPage: any SQLStatement
    private let tombstone: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        insert = try connection.prepare(
            "INSERT INTO topics(topic, name, team, added_at_ms, checks, broadcasts) VALUES (?, ?, ?, ?, ?, ?)")
        update = try connection.prepare("UPDATE topics SET name = ?, checks = ?, broadcasts = ? WHERE id = ?")
        selectByName = try connection.prepare(

            """
            SELECT id, topic, name, team, checks, broadcasts FROM topics WHERE topic = ? AND removed_at_ms IS NULL
            """)
        selectAll = try connection.prepare(

            """
            SELECT id, topic, name, team, checks, broadcasts FROM topics WHERE removed_at_ms IS NULL ORDER BY topic
            """)
        selectName = try connection.prepare("SELECT topic FROM topics WHERE id = ?")
        selectPage = try connection.prepare(
            """
            SELECT id, topic, name, team, checks, broadcasts FROM topics
            WHERE removed_at_ms IS NULL AND topic > ? ORDER BY topic LIMIT ?
            """)
        tombstone = try connection.prepare("UPDATE topics SET removed_at_ms = ? WHERE id = ?")
    }

    /// Adds a live app.
    ///
    /// The database assigns its number and ignores the number in `row`.
    func add(_ row: Row, now: Timestamp) throws(SQLError) {
        insert.bind(row.topic.name.text, at: 1)
        insert.bind(row.displayName, at: 2)
        insert.bind(row.topic.teamID, at: 3)
        insert.bind(now.unixMilliseconds, at: 4)
        insert.bind(row.topic.checks.rawValue, at: 5)
        insert.bind(row.topic.allowsBroadcasts ? 1 : 0, at: 6)
        try insert.run()
    }

    /// Writes the changeable values of a live app: its name, its checks and whether it allows broadcasts.
    func change(_ row: Row) throws(SQLError) {
        update.bind(row.displayName, at: 1)
        update.bind(row.topic.checks.rawValue, at: 2)
        update.bind(row.topic.allowsBroadcasts ? 1 : 0, at: 3)
        update.bind(Int64(row.topic.id.rawValue), at: 4)
        try update.run()
    }

    /// Returns the live app with a topic.
    func find(_ topic: TopicName) throws(SQLError) -> Row? {
        selectByName.bind(topic.text, at: 1)
        defer { selectByName.reset() }
        return try selectByName.step() ? row(of: selectByName) : nil
    }

    /// Returns the name of an app, live or removed.
    func name(of topic: TopicID) throws(SQLError) -> TopicName? {
        selectName.bind(Int64(topic.rawValue), at: 1)
        defer { selectName.reset() }
        return try selectName.step() ? TopicName(selectName.string(0)) : nil
    }

    /// Returns all live apps, ordered by topic.
    func all() throws(SQLError) -> [Row] {
        var rows: [Row] = []
        while try selectAll.step() {
            if let row = row(of: selectAll) { rows.append(row) }
        }
        return rows
    }

    /// Returns the next live apps after a topic, or the first ones, ordered by topic.
    func page(after topic: TopicName?, countMax: Int) throws(SQLError) -> ListPage<Row, TopicName> {
        selectPage.bind(topic?.text ?? "", at: 1)
        selectPage.bind(Int64(countMax), at: 2)
        return try selectPage.page(countMax: countMax) { (row) in
            self.row(of: row)
        } key: {
            TopicName($0.string(1))
        }
    }

    /// Marks an app as removed; its row stays as a tombstone.
    func remove(_ topic: TopicID, now: Timestamp) throws(SQLError) {
        tombstone.bind(now.unixMilliseconds, at: 1)
        tombstone.bind(Int64(topic.rawValue), at: 2)
        try tombstone.run()
    }

    /// Reads a row; returns nil for a number beyond 32 bits, after more than four billion apps.
    private func row(of statement: any SQLStatement) -> Row? {
        guard let number = UInt32(exactly: statement.int64(0)) else { return nil }
        // A value that the disk damaged falls back to the default of new apps.
        let topic = Topic(
            id: TopicID(rawValue: number), name: TopicName(statement.string(1)), displayName: statement.string(2),
            teamID: statement.string(3),
            checks: PayloadChecks(rawValue: statement.string(4)) ?? .warn,
            allowsBroadcasts: statement.int64(5) != 0)
        return Row(topic: topic, displayName: statement.string(2))
    }
}
