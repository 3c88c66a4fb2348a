// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL
internal import PushSQLite

/// The trace on the disk: one endless stream of packed events, split into rows.
///
/// A row's key is the position of its first byte in the stream. A position therefore identifies an event as long as it
/// is kept, and the total size is the distance between the ends. After all events are deleted, an empty row keeps the
/// end position, so that positions never start over.
final class TraceTable: TraceSource, TrimmedTrace {
    /// A part of the stream.
    struct Row {
        /// The position of the first byte.
        var position: Int64
        var firstEventAt: Timestamp
        var lastEventAt: Timestamp
        /// The last sequence that was accepted in this row, or before it if none was accepted in it.
        var lastSequence: Int64
        /// The packed `TraceEvent`s.
        var events: [UInt8]

        /// The position after the last byte.
        var end: Int64 { position + Int64(events.count) }
    }

    private let insert: Statement
    private let selectEnd: Statement
    private let selectOldest: Statement
    private let selectStart: Statement
    private let selectRows: Statement
    private let selectBySequence: Statement
    private let delete: Statement

    init(_ connection: Connection) throws(SQLError) {
        // Replaces the empty row that is left after all events are deleted.
        insert = try connection.prepare("INSERT OR REPLACE INTO trace VALUES (?, ?, ?, ?, ?)")
        selectEnd = try connection.prepare(
            "SELECT position + length(events), last_sequence FROM trace ORDER BY position DESC LIMIT 1")
        selectOldest = try connection.prepare(
            """
            SELECT position, last_at_ms, length(events), first_at_ms FROM trace WHERE length(events) > 0
            ORDER BY position LIMIT ?
            """)
        selectStart = try connection.prepare("SELECT max(position) FROM trace WHERE position <= ?")
        selectRows = try connection.prepare(
            """
            SELECT position, first_at_ms, last_at_ms, last_sequence, events FROM trace WHERE position >= ?
            ORDER BY position
            """)
        selectBySequence = try connection.prepare(
            "SELECT events, first_at_ms, last_at_ms FROM trace WHERE last_sequence >= ? ORDER BY last_sequence, position"
        )
        delete = try connection.prepare("DELETE FROM trace WHERE position < ?")
    }

    /// Appends a row.
    func append(_ row: Row) throws(SQLError) {
        insert.bind(row.position, at: 1)
        insert.bind(row.firstEventAt.unixMilliseconds, at: 2)
        insert.bind(row.lastEventAt.unixMilliseconds, at: 3)
        insert.bind(row.lastSequence, at: 4)
        insert.bind(row.events, at: 5)
        try insert.run()
    }

    /// Returns the position of the next row, and the last sequence that was accepted before it.
    func end() throws(SQLError) -> (position: Int64, lastSequence: Int64) {
        defer { selectEnd.reset() }
        return try selectEnd.step() ? (selectEnd.int64(0), selectEnd.int64(1)) : (0, 0)
    }

    /// Returns the time of the oldest event.
    func oldestAt() throws(SQLError) -> Timestamp? {
        selectOldest.bind(1, at: 1)
        defer { selectOldest.reset() }
        return try selectOldest.step() ? Timestamp(unixMilliseconds: selectOldest.int64(3)) : nil
    }

    // MARK: Retention

    /// Deletes the oldest rows that are too old or exceed the size limit; a bounded number in one step.
    ///
    /// - Parameters:
    ///   - moment: The time before which a row's last event must be to delete the row.
    ///   - byteCountMax: The maximum size of the trace.
    ///   - end: The end of the stream.
    /// - Returns: Whether more rows may be left to delete.
    /// - Throws: The error that SQLite returned.
    func trim(
        olderThan moment: Timestamp, byteCountMax: Int64, end: (position: Int64, lastSequence: Int64)
    ) throws(SQLError) -> Bool {
        let cut = try oldestToKeep(olderThan: moment, byteCountMax: byteCountMax, end: end.position)
        guard cut.rowCount > 0 else { return false }
        delete.bind(cut.position, at: 1)
        try delete.run()
        if cut.position == end.position {
            try append(
                Row(
                    position: end.position, firstEventAt: moment, lastEventAt: moment,
                    lastSequence: end.lastSequence, events: []))
        }
        return cut.isMore
    }

    func forEachOldest(
        countMax: Int, _ take: (_ position: Int64, _ lastEventAt: Timestamp, _ byteCount: Int64) -> Bool
    ) throws(SQLError) {
        selectOldest.bind(Int64(countMax), at: 1)
        defer { selectOldest.reset() }
        while try selectOldest.step() {
            let lastEventAt = Timestamp(unixMilliseconds: selectOldest.int64(1))
            guard take(selectOldest.int64(0), lastEventAt, selectOldest.int64(2)) else { return }
        }
    }

    // MARK: Reading

    /// Calls a closure for each row in order, from the row that contains a position, until the closure returns false.
    func forEachRow(from position: Int64, _ take: (Row) -> Bool) throws(SQLError) {
        selectStart.bind(position, at: 1)
        let start = try selectStart.step() ? selectStart.int64(0) : 0
        selectStart.reset()
        selectRows.bind(start, at: 1)
        defer { selectRows.reset() }
        while try selectRows.step() {
            let row = Row(
                position: selectRows.int64(0), firstEventAt: Timestamp(unixMilliseconds: selectRows.int64(1)),
                lastEventAt: Timestamp(unixMilliseconds: selectRows.int64(2)), lastSequence: selectRows.int64(3),
                events: selectRows.bytes(4))
            guard take(row) else { return }
        }
    }

    /// Calls a closure for the events of each row that may contain the first event of a notification, until the closure
    /// returns false.
    ///
    /// Hosts record their notifications a moment later than the store does. So the event may be in a later row than the
    /// first one whose last sequence is not lower.
    ///
    /// - Parameters:
    ///   - sequence: The sequence of the notification.
    ///   - take: Receives the events of a row; returns whether to continue.
    /// - Throws: The error that SQLite returned.
    func forEachRow(acceptedWith sequence: Int64, _ take: ([UInt8]) -> Bool) throws(SQLError) {
        selectBySequence.bind(sequence, at: 1)
        defer { selectBySequence.reset() }
        var end: Int64?
        var rowCount = 0
        // If the clock was set back, the times of all later rows may be before the end.
        while rowCount < WriterLimits.traceRowsPerOriginCountMax, try selectBySequence.step() {
            rowCount += 1
            let firstAt = selectBySequence.int64(1)
            guard firstAt <= end ?? .max, take(selectBySequence.bytes(0)) else { return }
            end = end ?? selectBySequence.int64(2) + WriterLimits.traceDelayMilliseconds
        }
    }
}
