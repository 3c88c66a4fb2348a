// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The trace in PostgreSQL: one stream of packed events that all nodes extend.
///
/// A node appends a row in one statement, which locks `trace_end` until its commit. So positions are in the order of the
/// commits, and no row appears before the end of those that a reader has seen.
final class PostgresTraceTable: TraceSource, TrimmedTrace {
    private static let rowsPerPage: Int64 = 64

    private let insert: any SQLStatement
    private let selectLast: any SQLStatement
    private let selectEnd: any SQLStatement
    private let selectOldest: any SQLStatement
    private let selectOldestTime: any SQLStatement
    private let selectStart: any SQLStatement
    private let selectRows: any SQLStatement
    private let selectByID: any SQLStatement
    private let delete: any SQLStatement
    private let node: Int64

    init(_ database: any SQLDatabase, node: Int64) throws(SQLError) {
        self.node = node
        insert = try database.prepare(
            """
            WITH moved AS (
                UPDATE trace_end SET position = position + octet_length(CAST(?1 AS bytea)) RETURNING position)
            INSERT INTO trace(position, node, first_at_ms, last_at_ms, first_id, last_id, events)
            SELECT position - octet_length(CAST(?1 AS bytea)), CAST(?2 AS int), CAST(?3 AS bigint), CAST(?4 AS bigint),
                CAST(?5 AS bigint), CAST(?6 AS bigint), CAST(?1 AS bytea) FROM moved
            RETURNING position + octet_length(events)
            """)
        selectLast = try database.prepare(
            """
            SELECT events = CAST(? AS bytea) FROM trace WHERE node = CAST(? AS int) ORDER BY position DESC LIMIT 1
            """)
        selectEnd = try database.prepare("SELECT position FROM trace_end")
        selectOldest = try database.prepare(
            "SELECT position, last_at_ms, octet_length(events) FROM trace ORDER BY position LIMIT ?")
        selectOldestTime = try database.prepare("SELECT first_at_ms FROM trace ORDER BY position LIMIT 1")
        selectStart = try database.prepare("SELECT max(position) FROM trace WHERE position <= ?")
        selectRows = try database.prepare(
            """
            SELECT position, first_at_ms, last_at_ms, last_id, events FROM trace WHERE position >= ?
            ORDER BY position LIMIT ?
            """)
        // The rows of one second have IDs of about that second. The inner limit bounds the rows that are compared.
        selectByID = try database.prepare(
            """
            SELECT events FROM (
                SELECT position, first_id, last_id, events FROM trace WHERE last_id >= ?1 AND last_id > 0
                ORDER BY last_id, position LIMIT ?2) AS later
            WHERE first_id <= ?1 ORDER BY last_id, position LIMIT ?3
            """)
        delete = try database.prepare("DELETE FROM trace WHERE position < ?")
    }

    // MARK: Writing

    /// Appends a row; returns the new end of the stream.
    func append(_ row: TraceRow) throws(SQLError) -> Int64 {
        insert.bind(row.events, at: 1)
        insert.bind(node, at: 2)
        insert.bind(row.firstEventAt.unixMilliseconds, at: 3)
        insert.bind(row.lastEventAt.unixMilliseconds, at: 4)
        insert.bind(row.firstID, at: 5)
        insert.bind(row.lastID, at: 6)
        defer { insert.reset() }
        return try insert.step() ? insert.int64(0) : 0
    }

    /// Returns whether a row is the last one of this node, because an attempt whose answer was lost has written it.
    func hasAppended(_ row: TraceRow) throws(SQLError) -> Bool {
        selectLast.bind(row.events, at: 1)
        selectLast.bind(node, at: 2)
        defer { selectLast.reset() }
        return try selectLast.step() && selectLast.int64(0) != 0
    }

    /// Returns the position of the next row.
    func end() throws(SQLError) -> Int64 {
        defer { selectEnd.reset() }
        return try selectEnd.step() ? selectEnd.int64(0) : 0
    }

    /// Deletes the oldest rows that are too old or exceed the size limit; a bounded number in one step.
    ///
    /// - Parameters:
    ///   - moment: The time before which a row's last event must be to delete the row.
    ///   - byteCountMax: The maximum size of the trace.
    /// - Returns: Whether more rows may be left to delete.
    /// - Throws: The error that PostgreSQL returned.
    func trim(olderThan moment: Timestamp, byteCountMax: Int64) throws(SQLError) -> Bool {
        let cut = try oldestToKeep(olderThan: moment, byteCountMax: byteCountMax, end: try end())
        guard cut.rowCount > 0 else { return false }
        delete.bind(cut.position, at: 1)
        try delete.run()
        return cut.isMore
    }

    func forEachOldest(
        countMax: Int, _ take: (_ position: Int64, _ lastEventAt: Timestamp, _ byteCount: Int64) -> Bool
    ) throws(SQLError) {
        // Usually, the oldest row stays. Then no other one is read.
        for count in [1, Int64(countMax)] {
            selectOldest.bind(count, at: 1)
            defer { selectOldest.reset() }
            var isSkipped = count > 1
            while try selectOldest.step() {
                guard !isSkipped else {
                    isSkipped = false
                    continue
                }
                let lastEventAt = Timestamp(unixMilliseconds: selectOldest.int64(1))
                guard take(selectOldest.int64(0), lastEventAt, selectOldest.int64(2)) else { return }
            }
        }
    }

    // MARK: Reading

    func oldestAt() throws(SQLError) -> Timestamp? {
        defer { selectOldestTime.reset() }
        return try selectOldestTime.step() ? Timestamp(unixMilliseconds: selectOldestTime.int64(0)) : nil
    }

    func forEachRow(from position: Int64, _ take: (TraceTable.Row) -> Bool) throws(SQLError) {
        selectStart.bind(position, at: 1)
        var next = try selectStart.step() ? selectStart.int64(0) : 0
        selectStart.reset()
        while true {
            selectRows.bind(next, at: 1)
            selectRows.bind(Self.rowsPerPage, at: 2)
            defer { selectRows.reset() }
            var count: Int64 = 0
            while try selectRows.step() {
                count += 1
                let row = TraceTable.Row(
                    position: selectRows.int64(0), firstEventAt: Timestamp(unixMilliseconds: selectRows.int64(1)),
                    lastEventAt: Timestamp(unixMilliseconds: selectRows.int64(2)), lastSequence: selectRows.int64(3),
                    events: selectRows.bytes(4))
                next = row.end
                guard take(row) else { return }
            }
            guard count == Self.rowsPerPage else { return }
        }
    }

    func forEachRow(acceptedWith sequence: Int64, _ take: ([UInt8]) -> Bool) throws(SQLError) {
        selectByID.bind(sequence, at: 1)
        selectByID.bind(Int64(WriterLimits.traceRowsPerOriginCountMax), at: 2)
        selectByID.bind(PostgresLimits.traceRowsReadPerOriginCountMax, at: 3)
        defer { selectByID.reset() }
        while try selectByID.step() { guard take(selectByID.bytes(0)) else { return } }
    }
}
