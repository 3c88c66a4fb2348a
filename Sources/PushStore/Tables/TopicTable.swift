// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Apps, each with its topic; a removed one stays as a tombstone and its number is never given out again.
final class TopicTable {
    /// A live app.
    struct Row {
        var topic: Topic
        var displayName: String
    }

    private let insert: Statement
    private let selectByName: Statement
    private let selectAll: Statement
    private let tombstone: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        insert = try connection.prepare("INSERT INTO topics(topic, name, team, added_at_ms) VALUES (?, ?, ?, ?)")
        selectByName = try connection.prepare(
            "SELECT id, topic, name, team FROM topics WHERE topic = ? AND removed_at_ms IS NULL")
        selectAll = try connection.prepare(
            "SELECT id, topic, name, team FROM topics WHERE removed_at_ms IS NULL ORDER BY topic")
        tombstone = try connection.prepare("UPDATE topics SET removed_at_ms = ? WHERE id = ?")
    }

    /// Adds a live app.
    func add(topic: String, name: String, team: String, now: Int64) throws(SQLiteError) {
        insert.bind(topic, at: 1)
        insert.bind(name, at: 2)
        insert.bind(team, at: 3)
        insert.bind(now, at: 4)
        try insert.run()
    }

    /// The live app with a topic.
    func find(_ topic: String) throws(SQLiteError) -> Row? {
        selectByName.bind(topic, at: 1)
        defer { selectByName.reset() }
        return try selectByName.step() ? row(of: selectByName) : nil
    }

    /// All live apps, by topic.
    func all() throws(SQLiteError) -> [Row] {
        var rows: [Row] = []
        while try selectAll.step() {
            if let row = row(of: selectAll) { rows.append(row) }
        }
        return rows
    }

    /// Leaves nothing of an app but its number.
    func remove(_ topic: TopicID, now: Int64) throws(SQLiteError) {
        tombstone.bind(now, at: 1)
        tombstone.bind(Int64(topic.rawValue), at: 2)
        try tombstone.run()
    }

    /// Reads a row; nil once four thousand million apps have used up the numbers of device tokens.
    private func row(of statement: Statement) -> Row? {
        guard let number = UInt32(exactly: statement.int64(0)) else { return nil }
        let topic = Topic(id: TopicID(rawValue: number), name: statement.string(1), teamID: statement.string(3))
        return Row(topic: topic, displayName: statement.string(2))
    }
}
