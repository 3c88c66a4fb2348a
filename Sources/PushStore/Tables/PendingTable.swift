// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Notifications that wait for their device's acknowledgement, in order of acceptance, and which of them are settled.
///
/// `pending` is written at its end and nothing orders it by device: that index is what would cost most, a page of its
/// own for nearly every row. The newest rows are known in memory instead (`DeviceCards`). Rows that stay are written into
/// `settled`, by device, many at a time, when there are many: see `SettlingRun`.
final class PendingTable {
    /// Names a row that was removed.
    struct Removed {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
    }

    /// A row that is known in memory.
    struct Recent {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
        var collapse: CollapseHash
        var expiresUnixMilliseconds: Int64?
    }

    /// A row that is to be written.
    struct New {
        var pending: PendingNotification
        var collapse: CollapseHash
        /// Until when it waits, if it has an expiration.
        var expiresUnixMilliseconds: Int64?
    }

    /// So many rows are written by one statement: what SQLite does for each statement costs a quarter of a row.
    private static let rowsPerInsert = 16

    private let connection: Connection
    private let insert: Statement
    private let insertMany: Statement
    private let delete: Statement
    private let selectOne: Statement
    private let selectRecent: Statement
    private let selectOfTopic: Statement
    private let selectExpired: Statement
    private let selectOldest: Statement
    private var record: [UInt8] = []
    private var parts: [(index: Int32, range: Range<Int>)] = []

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        insert = try connection.prepare("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?)")
        insertMany = try connection.prepare(
            """
            INSERT INTO pending VALUES
                (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?),
                (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?),
                (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?),
                (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?)
            """)
        delete = try connection.prepare("DELETE FROM pending WHERE sequence = ?")
        selectOne = try connection.prepare(
            "SELECT device, topic, record, expires_at_ms FROM pending WHERE sequence = ?")
        selectRecent = try connection.prepare(
            """
            SELECT sequence, device, topic, collapse, expires_at_ms FROM pending
            WHERE sequence > ? AND NOT EXISTS (
                SELECT 1 FROM settled WHERE settled.device = pending.device AND settled.sequence = pending.sequence)
            ORDER BY sequence
            """)
        selectOfTopic = try connection.prepare("SELECT sequence, device, topic FROM pending WHERE topic = ?")
        selectExpired = try connection.prepare(
            """
            SELECT sequence, device, topic FROM pending INDEXED BY pending_by_expiry
            WHERE expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?
            """)
        selectOldest = try connection.prepare("SELECT sequence, device, topic, record FROM pending ORDER BY sequence")
    }

    /// Puts notifications at the end, in their order.
    func add(_ rows: [New]) throws(SQLiteError) {
        var rest = rows[...]
        while rest.count >= Self.rowsPerInsert {
            try insertMany(rest.prefix(Self.rowsPerInsert))
            rest.removeFirst(Self.rowsPerInsert)
        }
        for row in rest { try add(row) }
    }

    private func add(_ row: New) throws(SQLiteError) {
        record.removeAll(keepingCapacity: true)
        PendingRecord.append(row.pending, to: &record)
        bind(row, to: insert, after: 0)
        try insert.run(lending: record, at: 6)
    }

    private func insertMany(_ rows: ArraySlice<New>) throws(SQLiteError) {
        record.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        var index: Int32 = 0
        for row in rows {
            let start = record.count
            PendingRecord.append(row.pending, to: &record)
            bind(row, to: insertMany, after: index)
            index += 6
            parts.append((index, start..<record.count))
        }
        try insertMany.run(lending: record, parts)
    }

    /// Binds all but the record.
    private func bind(_ row: New, to statement: Statement, after index: Int32) {
        statement.bind(row.pending.sequence, at: index + 1)
        statement.bind(row.pending.notification.address.device.stored, at: index + 2)
        statement.bind(Int64(row.pending.notification.address.topic.rawValue), at: index + 3)
        statement.bind(row.collapse.stored, at: index + 4)
        statement.bind(row.expiresUnixMilliseconds, at: index + 5)
    }

    /// Moves one from an earlier schema; one that was damaged there stays so.
    func add(_ row: New, isIntact: Bool) throws(SQLiteError) {
        guard !isIntact else { return try add(row) }
        var wrong = row.pending
        wrong.sequence = -1
        record.removeAll(keepingCapacity: true)
        PendingRecord.append(wrong, to: &record)
        bind(row, to: insert, after: 0)
        try insert.run(lending: record, at: 6)
    }

    /// Removes one, whosever it is; false when it is gone already.
    func remove(_ sequence: Int64) throws(SQLiteError) -> Bool {
        delete.bind(sequence, at: 1)
        try delete.run()
        return connection.changedRowCount > 0
    }

    /// A row that was read; without a notification when it is not what was written.
    struct Read {
        var topic: TopicID
        var notification: PendingNotification?
        /// Until when it waits; nil without an expiration.
        var expiresUnixMilliseconds: Int64?
    }

    /// Reads one of a device; nil when there is no such row.
    func read(_ sequence: Int64, of device: DeviceID) throws(SQLiteError) -> Read? {
        selectOne.bind(sequence, at: 1)
        defer { selectOne.reset() }
        guard try selectOne.step(), selectOne.int64(0) == device.stored else { return nil }
        let topic = TopicID(stored: selectOne.int64(1))
        let notification = selectOne.withBytes(2) { bytes in
            PendingRecord.decode(bytes, sequence: sequence, device: device, topic: topic)
        }
        return Read(topic: topic, notification: notification, expiresUnixMilliseconds: selectOne.optionalInt64(3))
    }

    /// The rows behind a sequence that are not settled.
    func forEachRecent(after sequence: Int64, _ take: (Recent) -> Void) throws(SQLiteError) {
        selectRecent.bind(sequence, at: 1)
        while try selectRecent.step() {
            take(
                Recent(
                    sequence: selectRecent.int64(0), device: DeviceID(stored: selectRecent.int64(1)),
                    topic: TopicID(stored: selectRecent.int64(2)),
                    collapse: CollapseHash(stored: selectRecent.optionalInt64(3)),
                    expiresUnixMilliseconds: selectRecent.optionalInt64(4)))
        }
    }

    /// All of an app, on every device; reads the whole table, as nothing is ordered by topic.
    func all(of topic: TopicID) throws(SQLiteError) -> [Removed] {
        selectOfTopic.bind(Int64(topic.rawValue), at: 1)
        return try rows(of: selectOfTopic)
    }

    /// Those whose expiration has passed, at most so many.
    func expired(now: Int64, countMax: Int) throws(SQLiteError) -> [Removed] {
        selectExpired.bind(now, at: 1)
        selectExpired.bind(Int64(countMax), at: 2)
        return try rows(of: selectExpired)
    }

    /// Those that were accepted before a moment, at most so many: as rows are in order of acceptance, the oldest ones.
    func accepted(before moment: Int64, countMax: Int) throws(SQLiteError) -> [Removed] {
        var old: [Removed] = []
        defer { selectOldest.reset() }
        while old.count < countMax, try selectOldest.step() {
            let accepted = selectOldest.withBytes(3) { PendingRecord.acceptedUnixMilliseconds($0) }
            guard let accepted, accepted < moment else { break }
            old.append(row(of: selectOldest))
        }
        return old
    }

    private func rows(of statement: Statement) throws(SQLiteError) -> [Removed] {
        var rows: [Removed] = []
        while try statement.step() { rows.append(row(of: statement)) }
        return rows
    }

    private func row(of statement: Statement) -> Removed {
        Removed(
            sequence: statement.int64(0), device: DeviceID(stored: statement.int64(1)),
            topic: TopicID(stored: statement.int64(2)))
    }
}

/// A collapse id as a number, by which a queue is searched; the row has the id itself.
struct CollapseHash: Equatable {
    /// 0 without a collapse id.
    private let value: UInt64

    /// Takes a collapse id; none when it is left out.
    init(_ collapseID: [UInt8]? = nil) {
        guard let collapseID else {
            value = 0
            return
        }
        var checksum = Checksum()
        checksum.add(collapseID.span)
        value = max(checksum.value, 1)
    }

    /// Takes a column.
    init(stored: Int64?) { value = UInt64(bitPattern: stored ?? 0) }

    /// As a column.
    var stored: Int64? { value == 0 ? nil : Int64(bitPattern: value) }
}
