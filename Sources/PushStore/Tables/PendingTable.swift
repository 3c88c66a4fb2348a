// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// The notifications that wait for their device's acknowledgement, in order of acceptance.
///
/// Rows are appended to `pending`, which has no index by device. Such an index would be the largest cost: nearly every
/// row would write another index page. Memory indexes the newest rows instead (`DeviceQueues`). When there are many of
/// them, `ArchivingRun` archives them: it adds them to `archived`, ordered by device, many at a time.
final class PendingTable {
    /// The identity of a removed row.
    struct Removed {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
    }

    /// A row that is indexed in memory.
    struct Recent {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
        var collapse: CollapseHash
        var expiresAt: Timestamp?
        /// The trace position of the row's event *stored*; nil without a trace, or after the event was recovered.
        var tracePosition: Int64?
    }

    /// A row to write.
    struct New {
        var pending: PendingNotification
        var collapse: CollapseHash
        /// The expiration; nil without one.
        var expiresAt: Timestamp?
        /// The trace position of the row's event *stored*; nil without a trace.
        var tracePosition: Int64?
    }

    /// The number of columns.
    private static let columnCount: Int32 = 7
    /// The number of rows that one statement inserts.
    ///
    /// The fixed cost of a statement is a quarter of the cost of a row.
    private static let rowsPerInsert = 16

    private let connection: Connection
    private let insert: Statement
    private let insertMany: Statement
    private let delete: Statement
    private let selectOne: Statement
    private let selectRecent: Statement
    private let selectExpired: Statement
    private let selectOldest: Statement
    private let updateTraced: Statement
    private var record: [UInt8] = []
    private var parts: [(index: Int32, range: Range<Int>)] = []

    init(_ connection: Connection) throws(SQLError) {
        self.connection = connection
        insert = try connection.prepare("INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?)")
        insertMany = try connection.prepare(
            """
            INSERT INTO pending VALUES
                (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),
                (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),
                (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?),
                (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?), (?, ?, ?, ?, ?, ?, ?)
            """)
        delete = try connection.prepare("DELETE FROM pending WHERE sequence = ?")
        selectOne = try connection.prepare(
            "SELECT device, topic, record, expires_at_ms FROM pending WHERE sequence = ?")
        selectRecent = try connection.prepare(
            """
            SELECT sequence, device, topic, collapse, expires_at_ms, trace_position FROM pending
            WHERE sequence > ? AND NOT EXISTS (
                SELECT 1 FROM archived WHERE archived.device = pending.device AND archived.sequence = pending.sequence)
            ORDER BY sequence
            """)
        selectExpired = try connection.prepare(
            """
            SELECT sequence, device, topic FROM pending INDEXED BY pending_by_expiry
            WHERE expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?
            """)
        selectOldest = try connection.prepare("SELECT sequence, device, topic, record FROM pending ORDER BY sequence")
        updateTraced = try connection.prepare("UPDATE pending SET trace_position = NULL WHERE sequence = ?")
    }

    /// Appends notifications, in their order.
    func add(_ rows: [New]) throws(SQLError) {
        var rest = rows[...]
        while rest.count >= Self.rowsPerInsert {
            try insertMany(rest.prefix(Self.rowsPerInsert))
            rest.removeFirst(Self.rowsPerInsert)
        }
        for row in rest { try add(row) }
    }

    private func add(_ row: New) throws(SQLError) {
        record.removeAll(keepingCapacity: true)
        PendingRecord.append(row.pending, to: &record)
        bind(row, to: insert, after: 0)
        try insert.run(lending: record, at: Self.columnCount)
    }

    private func insertMany(_ rows: ArraySlice<New>) throws(SQLError) {
        record.removeAll(keepingCapacity: true)
        parts.removeAll(keepingCapacity: true)
        var index: Int32 = 0
        for row in rows {
            let start = record.count
            PendingRecord.append(row.pending, to: &record)
            bind(row, to: insertMany, after: index)
            index += Self.columnCount
            parts.append((index, start..<record.count))
        }
        try insertMany.run(lending: record, parts)
    }

    /// Binds all columns except the record.
    private func bind(_ row: New, to statement: Statement, after index: Int32) {
        statement.bind(row.pending.sequence, at: index + 1)
        statement.bind(row.pending.notification.address.device.stored, at: index + 2)
        statement.bind(Int64(row.pending.notification.address.topic.rawValue), at: index + 3)
        statement.bind(row.collapse.stored, at: index + 4)
        statement.bind(row.expiresAt?.unixMilliseconds, at: index + 5)
        statement.bind(row.tracePosition, at: index + 6)
    }

    /// Records that the trace's table has the events of a row.
    func noteTraced(_ sequence: Int64) throws(SQLError) {
        updateTraced.bind(sequence, at: 1)
        try updateTraced.run()
    }

    /// Removes the row with a sequence, of any device; returns false when it does not exist.
    func remove(_ sequence: Int64) throws(SQLError) -> Bool {
        delete.bind(sequence, at: 1)
        try delete.run()
        return connection.changedRowCount > 0
    }

    /// A row that was read; without a notification when its checksum is wrong.
    struct Read {
        var topic: TopicID
        var notification: PendingNotification?
        /// The expiration; nil without one.
        var expiresAt: Timestamp?
    }

    /// Reads a row of a device; returns nil if there is no such row.
    func read(_ sequence: Int64, of device: DeviceID) throws(SQLError) -> Read? {
        selectOne.bind(sequence, at: 1)
        defer { selectOne.reset() }
        guard try selectOne.step(), selectOne.int64(0) == device.stored else { return nil }
        let topic = TopicID(stored: selectOne.int64(1))
        let notification = selectOne.withBytes(2) { bytes in
            PendingRecord.decode(bytes, sequence: sequence, device: device, topic: topic)
        }
        return Read(
            topic: topic, notification: notification,
            expiresAt: selectOne.optionalInt64(3).map(Timestamp.init(unixMilliseconds:)))
    }

    /// Calls a closure for each row after a sequence that is not archived.
    func forEachRecent(after sequence: Int64, _ take: (Recent) -> Void) throws(SQLError) {
        selectRecent.bind(sequence, at: 1)
        while try selectRecent.step() {
            take(
                Recent(
                    sequence: selectRecent.int64(0), device: DeviceID(stored: selectRecent.int64(1)),
                    topic: TopicID(stored: selectRecent.int64(2)),
                    collapse: CollapseHash(stored: selectRecent.optionalInt64(3)),
                    expiresAt: selectRecent.optionalInt64(4).map(Timestamp.init(unixMilliseconds:)),
                    tracePosition: selectRecent.optionalInt64(5)))
        }
    }

    /// Returns rows whose expiration has passed, at most `countMax`.
    func expired(now: Timestamp, countMax: Int) throws(SQLError) -> [Removed] {
        selectExpired.bind(now.unixMilliseconds, at: 1)
        selectExpired.bind(Int64(countMax), at: 2)
        return try rows(of: selectExpired)
    }

    /// Returns rows that were accepted before a time, at most `countMax`.
    ///
    /// Rows are in order of acceptance, so these are the first rows.
    ///
    /// - Parameters:
    ///   - moment: The time.
    ///   - countMax: The maximum number of rows.
    /// - Returns: The rows, oldest first.
    /// - Throws: The error that SQLite returned.
    func accepted(before moment: Timestamp, countMax: Int) throws(SQLError) -> [Removed] {
        var old: [Removed] = []
        defer { selectOldest.reset() }
        while old.count < countMax, try selectOldest.step() {
            let accepted = selectOldest.withBytes(3) { PendingRecord.acceptedAt($0) }
            guard let accepted, accepted < moment else { break }
            old.append(row(of: selectOldest))
        }
        return old
    }

    private func rows(of statement: Statement) throws(SQLError) -> [Removed] {
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
