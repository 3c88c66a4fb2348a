// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushPostgres
internal import PushSQL
internal import PushSQLite

extension StoreMove {
    /// Copies a store in SQLite to empty tables of PostgreSQL, which are created if they do not exist.
    ///
    /// The tables stay empty if it fails.
    ///
    /// - Parameter path: The file of SQLite, which must exist.
    /// - Returns: The numbers of rows.
    /// - Throws: The problem.
    package func copyToPostgres(from path: String) throws(StoreMoveError) -> Report {
        let file = try open(path)
        try createTables()
        try transaction { () throws(StoreMoveError) in
            try refuseRunningNodes()
            try refuseFurtherShards()
            try refuseRows()
            try refuseLateNumbers(file)
            for table in MovedTable.toPostgres {
                try fill(table, from: file) { (row) throws(StoreMoveError) in row }
            }
            try fill(.traceToPostgres, from: file) { (row) throws(StoreMoveError) in MovedTrace.withIDs(row) }
            try moveTraceEnd(file)
            var notifications = MovedNotifications()
            try fill(.pendingToPostgres, from: file) { (row) throws(StoreMoveError) in
                notifications.toPostgres(row)
            }
            report.damagedCount = notifications.damagedCount
            try raiseIdentifiers(file)
        }
        return report
    }

    /// Opens the file, and records the events that a crash kept from the trace.
    private func open(_ path: String) throws(StoreMoveError) -> Connection {
        let file = try sqlite(path) { () throws(SQLError) in
            try Connection(path: path, durability: .full, exclusive: true)
        }
        do throws(MigrationError) { try Schema.migrations.apply(to: file) } catch {
            throw .sqlite(StoreError(error, path: path))
        }
        try sqlite(path) { () throws(SQLError) in
            let tables = try StoreTables(file)
            let trace = try TraceRecorder(isOn: true, tables.trace)
            var recovery = TraceRecovery(end: trace.end.position)
            try tables.pending.forEachRecent(after: try tables.state.archivedThrough()) { recovery.take($0) }
            try recovery.record(in: trace, tables, file)
        }
        return file
    }

    private func createTables() throws(StoreMoveError) {
        do throws(StoreError) {
            try PostgresSchema.open(connection, at: address) { (body) throws(SQLError) in
                try connection.transaction(isolation: .readCommitted, body)
            }
        } catch {
            switch error {
            case .newerSchema(_, let found, let known): throw .newerSchema(address: address, found: found, known: known)
            case .cannotOpen(_, let code, let text), .readOnly(_, let code, let text), .locked(_, let code, let text),
                .migrationFailed(_, _, let code, let text), .damaged(_, let code, let text),
                .full(_, let code, let text), .inputOutput(_, let code, let text), .failed(_, let code, let text):
                throw .postgres(
                    address: address, SQLError(kind: .refused, code: code, message: text, subject: address))
            }
        }
    }

    /// Refuses tables that have rows.
    private func refuseRows() throws(StoreMoveError) {
        for table in MovedTable.toPostgres + [.traceToPostgres, .pendingToPostgres] {
            var hasRows = false
            try forEachPostgresRow("\(table.resultQuery) LIMIT 1", table.columns.map(\.type)) {
                (_) throws(StoreMoveError) in hasRows = true
            }
            if hasRows { throw .notEmpty(address: address, table: table.name) }
        }
    }

    /// Refuses a store whose numbers are not below those that nodes make of the time.
    private func refuseLateNumbers(_ file: Connection) throws(StoreMoveError) {
        var last: Int64 = 0
        try forEachSQLiteRow("SELECT value FROM state WHERE name = 'last_sequence'", [.bigint], of: file) {
            (row) throws(StoreMoveError) in last = row[0].number ?? 0
        }
        let now = try now()
        guard last < NotificationIDLayout.least(at: now) else {
            let seconds = (NotificationIDLayout.milliseconds(of: last) - now) / 1000 + 1
            throw .aheadOfClock(path: file.path, seconds: seconds)
        }
    }

    /// Copies the rows of a table, reads them back, and compares.
    private func fill(
        _ table: MovedTable, from file: Connection,
        _ convert: ([SQLValue]) throws(StoreMoveError) -> [SQLValue]?
    ) throws(StoreMoveError) {
        let types = table.columns.map(\.type)
        let copy = try postgres { () throws(SQLError) in
            try connection.copyIn("COPY \(table.name) (\(table.columnNames)) FROM STDIN (FORMAT binary)", types)
        }
        var written = RowSum()
        try forEachSQLiteRow(table.query, table.queryTypes, of: file) { (row) throws(StoreMoveError) in
            guard let row = try convert(row.map(\.storable)) else { return }
            written.add(row)
            try postgres { () throws(SQLError) in try copy.append(row) }
        }
        _ = try postgres { () throws(SQLError) in try copy.finish() }
        var found = RowSum()
        try forEachPostgresRow(table.resultQuery, types) { (row) throws(StoreMoveError) in found.add(row) }
        guard found == written else { throw .differs(target: address, table: table.name) }
        noteTable(table.name, found)
    }

    /// Lets the trace continue at its end, even if all events were deleted.
    private func moveTraceEnd(_ file: Connection) throws(StoreMoveError) {
        var end: Int64 = 0
        let query = "SELECT coalesce(max(position + length(events)), 0) FROM trace"
        try forEachSQLiteRow(query, [.bigint], of: file) { (row) throws(StoreMoveError) in
            end = row[0].number ?? 0
        }
        try postgres { () throws(SQLError) in
            try connection.execute(text: "UPDATE trace_end SET position = \(end)")
        }
    }

    /// Lets the numbers of apps, channels and subscriptions continue after a gap.
    private func raiseIdentifiers(_ file: Connection) throws(StoreMoveError) {
        let counters = [
            ("topics", "id", "SELECT seq FROM sqlite_sequence WHERE name = 'topics'"),
            ("channels", "number", "SELECT seq FROM sqlite_sequence WHERE name = 'channels'"),
            ("subscriptions", "position", "SELECT max(position) FROM subscriptions"),
        ]
        for (table, column, query) in counters {
            var last: Int64 = 0
            try forEachSQLiteRow(query, [.bigint], of: file) { (row) throws(StoreMoveError) in
                last = row[0].number ?? 0
            }
            let next = last + Self.identifierGap
            try postgres { () throws(SQLError) in
                try connection.execute(
                    text: "SELECT setval(pg_get_serial_sequence('\(table)', '\(column)'), \(next))")
            }
        }
    }
}

extension SQLValue {
    /// The value as PostgreSQL stores it.
    fileprivate var storable: SQLValue {
        if case .text(let text) = self { .text(PostgresText.storable(text)) } else { self }
    }
}
