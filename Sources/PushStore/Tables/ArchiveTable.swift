// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// The number of notifications of one topic that wait for a device.
struct TopicCount {
    var topic: TopicID
    var count: Int
}

/// The archive index: the older rows of `pending`, ordered by device.
///
/// A device that was disconnected for a long time reads its queue here. `archived_counts` has the number of rows of
/// each topic, so that a start does not need to count them.
final class ArchiveTable {
    struct Row {
        var sequence: Int64
        var topic: TopicID
    }

    /// A row whose notification expires.
    struct ExpiringRow {
        var row: Row
        var expiresAt: Timestamp
    }

    private let connection: Connection
    private let insert: Statement
    private let delete: Statement
    private let selectOne: Statement
    private let selectAfter: Statement
    private let selectOldest: Statement
    private let selectOldestOfTopic: Statement
    private let selectCollapsible: Statement
    private let selectExpiring: Statement
    private let countByTopicOfDevice: Statement
    private let selectCounts: Statement
    private let addToCount: Statement
    private var countChanges: [TopicID: Int] = [:]

    init(_ connection: Connection) throws(SQLError) {
        self.connection = connection
        insert = try connection.prepare("INSERT OR IGNORE INTO archived VALUES (?, ?, ?, ?)")
        delete = try connection.prepare("DELETE FROM archived WHERE device = ? AND sequence = ?")
        selectOne = try connection.prepare("SELECT topic, collapse FROM archived WHERE device = ? AND sequence = ?")
        selectAfter = try connection.prepare(
            "SELECT sequence, topic FROM archived WHERE device = ? AND sequence > ? ORDER BY sequence LIMIT ?")
        selectOldest = try connection.prepare(
            "SELECT sequence, topic FROM archived WHERE device = ? ORDER BY sequence LIMIT 1")
        selectOldestOfTopic = try connection.prepare(
            "SELECT sequence, topic FROM archived WHERE device = ? AND topic = ? ORDER BY sequence LIMIT 1")
        selectCollapsible = try connection.prepare(
            "SELECT sequence, topic FROM archived WHERE device = ? AND topic = ? AND collapse = ? ORDER BY sequence")
        selectExpiring = try connection.prepare(
            """
            SELECT archived.sequence, archived.topic, expires_at_ms FROM archived JOIN pending USING (sequence)
            WHERE archived.device = ? AND expires_at_ms IS NOT NULL ORDER BY archived.sequence
            """)
        countByTopicOfDevice = try connection.prepare(
            "SELECT topic, count(*) FROM archived WHERE device = ? GROUP BY topic")
        selectCounts = try connection.prepare("SELECT topic, count FROM archived_counts WHERE count > 0")
        addToCount = try connection.prepare(
            "INSERT INTO archived_counts VALUES (?1, ?2) ON CONFLICT DO UPDATE SET count = count + ?2")
    }

    // MARK: Writing

    /// Adds a row of `pending`.
    func add(_ row: Row, of device: DeviceID, collapse: CollapseHash) throws(SQLError) {
        insert.bind(device.stored, at: 1)
        insert.bind(row.sequence, at: 2)
        insert.bind(Int64(row.topic.rawValue), at: 3)
        insert.bind(collapse.stored, at: 4)
        try insert.run()
        if connection.changedRowCount > 0 { countChanges[row.topic, default: 0] += 1 }
    }

    /// Removes a row if it exists.
    func remove(_ sequence: Int64, of device: DeviceID, topic: TopicID) throws(SQLError) {
        delete.bind(device.stored, at: 1)
        delete.bind(sequence, at: 2)
        try delete.run()
        if connection.changedRowCount > 0 { countChanges[topic, default: 0] -= 1 }
    }

    /// Starts a transaction; discards the count changes of a transaction that failed.
    func begin() { if !countChanges.isEmpty { countChanges.removeAll(keepingCapacity: true) } }

    /// Writes the changed counts, near the end of the transaction.
    func end() throws(SQLError) {
        for (topic, change) in countChanges where change != 0 {
            addToCount.bind(Int64(topic.rawValue), at: 1)
            addToCount.bind(Int64(change), at: 2)
            try addToCount.run()
        }
    }

    // MARK: Reading

    /// Returns the topic and the collapse ID's hash of a device's row; nil if the row does not exist.
    func find(_ sequence: Int64, of device: DeviceID) throws(SQLError) -> (topic: TopicID, collapse: CollapseHash)? {
        selectOne.bind(device.stored, at: 1)
        selectOne.bind(sequence, at: 2)
        defer { selectOne.reset() }
        guard try selectOne.step() else { return nil }
        return (TopicID(stored: selectOne.int64(0)), CollapseHash(stored: selectOne.optionalInt64(1)))
    }

    /// Returns the next rows of a device after a sequence, in order, at most `countMax`.
    func rows(of device: DeviceID, after sequence: Int64, countMax: Int) throws(SQLError) -> [Row] {
        selectAfter.bind(device.stored, at: 1)
        selectAfter.bind(sequence, at: 2)
        selectAfter.bind(Int64(countMax), at: 3)
        return try rows(of: selectAfter)
    }

    /// Returns the oldest row of a device, or of an app on it.
    func oldest(of device: DeviceID, topic: TopicID?) throws(SQLError) -> Row? {
        guard let topic else {
            selectOldest.bind(device.stored, at: 1)
            return try rows(of: selectOldest).first
        }
        selectOldestOfTopic.bind(device.stored, at: 1)
        selectOldestOfTopic.bind(Int64(topic.rawValue), at: 2)
        return try rows(of: selectOldestOfTopic).first
    }

    /// Returns the rows that may have the same collapse ID, oldest first.
    func collapsible(of device: DeviceID, topic: TopicID, _ collapse: CollapseHash) throws(SQLError) -> [Row] {
        selectCollapsible.bind(device.stored, at: 1)
        selectCollapsible.bind(Int64(topic.rawValue), at: 2)
        selectCollapsible.bind(collapse.stored, at: 3)
        return try rows(of: selectCollapsible)
    }

    /// Returns the rows of a device that have an expiration, oldest first; reads all rows of the device.
    func expiring(of device: DeviceID) throws(SQLError) -> [ExpiringRow] {
        selectExpiring.bind(device.stored, at: 1)
        var rows: [ExpiringRow] = []
        while try selectExpiring.step() {
            let row = Row(sequence: selectExpiring.int64(0), topic: TopicID(stored: selectExpiring.int64(1)))
            rows.append(ExpiringRow(row: row, expiresAt: Timestamp(unixMilliseconds: selectExpiring.int64(2))))
        }
        return rows
    }

    /// Returns the number of rows of each topic for a device.
    func counts(of device: DeviceID) throws(SQLError) -> [TopicCount] {
        var counts: [TopicCount] = []
        countByTopicOfDevice.bind(device.stored, at: 1)
        while try countByTopicOfDevice.step() {
            counts.append(
                TopicCount(
                    topic: TopicID(stored: countByTopicOfDevice.int64(0)), count: Int(countByTopicOfDevice.int64(1))))
        }
        return counts
    }

    /// Returns the number of rows of each topic.
    func countsByTopic() throws(SQLError) -> [TopicID: Int] {
        var counts: [TopicID: Int] = [:]
        while try selectCounts.step() { counts[TopicID(stored: selectCounts.int64(0))] = Int(selectCounts.int64(1)) }
        return counts
    }

    private func rows(of statement: Statement) throws(SQLError) -> [Row] {
        var rows: [Row] = []
        while try statement.step() {
            rows.append(Row(sequence: statement.int64(0), topic: TopicID(stored: statement.int64(1))))
        }
        return rows
    }
}
