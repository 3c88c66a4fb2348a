// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushPostgres
internal import PushSQL
internal import PushSQLite

extension StoreMove {
    /// The number of rows that a transaction of SQLite writes.
    private static let rowsPerTransaction = 10_000

    /// Copies a store in PostgreSQL to a new file of SQLite.
    ///
    /// If it fails, remove the file. After a success, synchronize it.
    ///
    /// - Parameter path: The new file. Its directory must exist.
    /// - Returns: The numbers of rows.
    /// - Throws: The problem.
    package func copyToSQLite(at path: String) throws(StoreMoveError) -> Report {
        guard let version = try postgres({ () throws(SQLError) in try PostgresSchema.foundVersion(in: connection) })
        else { throw .noTables(address: address) }
        guard version == PostgresSchema.version else {
            throw .newerSchema(address: address, found: version, known: PostgresSchema.version)
        }
        let file = try create(path)
        try transaction { () throws(StoreMoveError) in
            try refuseRunningNodes()
            try refuseFurtherShards()
            for table in MovedTable.toSQLite {
                try fill(table, of: file) { (row) throws(StoreMoveError) in row }
            }
            var trace = MovedTrace()
            try fill(.traceToSQLite, of: file) { (row) throws(StoreMoveError) in trace.toSQLite(row) }
            var notifications = MovedNotifications()
            try fill(.pendingToSQLite, of: file) { (row) throws(StoreMoveError) in notifications.toSQLite(row) }
            report.damagedCount = notifications.damagedCount
            try continueNumbers(file, through: notifications.last)
        }
        try sqlite(path) { () throws(SQLError) in try file.checkpoint(.truncate) }
        return report
    }

    private func create(_ path: String) throws(StoreMoveError) -> Connection {
        let file = try sqlite(path) { () throws(SQLError) in
            let file = try Connection(path: path, durability: .normal, exclusive: true)
            // The index of waiting notifications is sorted, and may be larger than memory.
            try file.execute("PRAGMA temp_store = FILE")
            return file
        }
        do throws(MigrationError) { try Schema.migrations.apply(to: file) } catch {
            throw .sqlite(StoreError(error, path: path))
        }
        return file
    }

    /// Copies the rows of a table, reads them back, and compares.
    private func fill(
        _ table: MovedTable, of file: Connection,
        _ convert: ([SQLValue]) throws(StoreMoveError) -> [SQLValue]?
    ) throws(StoreMoveError) {
        let places = table.columns.map { _ in "?" }.joined(separator: ", ")
        let insert = try sqlite(file.path) { () throws(SQLError) in
            try file.execute("BEGIN")
            return try file.prepare(
                text: "INSERT INTO \(table.name)(\(table.columnNames)) VALUES (\(places))")
        }
        var written = RowSum()
        try forEachPostgresRow(table.query, table.queryTypes) { (row) throws(StoreMoveError) in
            guard let row = try convert(row) else { return }
            written.add(row)
            for (index, value) in row.enumerated() { insert.bind(value, at: Int32(index + 1)) }
            try sqlite(file.path) { () throws(SQLError) in
                try insert.run()
                if written.count % Self.rowsPerTransaction == 0 { try file.execute("COMMIT; BEGIN") }
            }
        }
        try sqlite(file.path) { () throws(SQLError) in try file.execute("COMMIT") }
        var found = RowSum()
        try forEachSQLiteRow(table.resultQuery, table.columns.map(\.type), of: file) { (row) throws(StoreMoveError) in
            found.add(row)
        }
        guard found == written else { throw .differs(target: file.path, table: table.name) }
        noteTable(table.name, found)
    }

    /// Archives the notifications, and lets all numbers continue after a gap.
    private func continueNumbers(_ file: Connection, through sequence: Int64) throws(StoreMoveError) {
        let known = try number(
            """
            SELECT greatest(
                (SELECT max(id_ceiling) FROM nodes), (SELECT max(id) FROM pending),
                (SELECT max(sequence) FROM broadcasts), (SELECT max(since) FROM subscriptions),
                (SELECT max(last_id) FROM trace))
            """)
        let last = max(known, sequence, NotificationIDLayout.least(at: try now()))
        guard last < Int64.max / 2 - StoreRestore.sequenceGap else { throw .outOfNumbers(address: address) }
        let identifiers = [
            ("topics", try number("SELECT pg_sequence_last_value(pg_get_serial_sequence('topics', 'id'))")),
            ("channels", try number("SELECT pg_sequence_last_value(pg_get_serial_sequence('channels', 'number'))")),
        ]
        try sqlite(file.path) { () throws(SQLError) in
            try file.transaction { () throws(SQLError) in
                try file.execute(
                    """
                    INSERT INTO archived SELECT device, sequence, topic, collapse FROM pending ORDER BY device, sequence;
                    INSERT INTO archived_counts SELECT topic, count(*) FROM pending GROUP BY topic;
                    """)
                let state = try StateTable(file)
                try state.setArchivedThrough(sequence)
                try state.setLastSequence(last + StoreRestore.sequenceGap)
                for (table, number) in identifiers {
                    let next = number + Self.identifierGap
                    try file.execute(
                        text: """
                            INSERT INTO sqlite_sequence SELECT '\(table)', 0
                                WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '\(table)');
                            UPDATE sqlite_sequence SET seq = max(seq, \(next)) WHERE name = '\(table)';
                            """)
                }
            }
        }
    }
}
