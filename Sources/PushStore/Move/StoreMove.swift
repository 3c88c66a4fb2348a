// SPDX-License-Identifier: Apache-2.0

package import PushPostgres
internal import PushSQL
internal import PushSQLite

/// Copies a whole store between SQLite and PostgreSQL while no server uses either.
///
/// Each table is read back from the target and compared with what the source had.
package final class StoreMove {
    /// The number of rows in each copied table.
    package struct Report: Sendable {
        package struct Table: Sendable, Equatable {
            package var name: String
            package var rowCount: Int
        }

        package fileprivate(set) var tables: [Table] = []
        /// The number of waiting notifications that were left out because their checksum is wrong.
        package internal(set) var damagedCount = 0

        /// Returns the number of rows in a table.
        package func rowCount(_ table: String) -> Int { tables.first { $0.name == table }?.rowCount ?? 0 }
    }

    /// The number of numbers of apps and channels that are skipped, as after a restored backup.
    static let identifierGap: Int64 = 1024
    /// The time without a heartbeat after which a node counts as stopped.
    private static let heartbeatSeconds = 10

    let connection: PostgresConnection
    /// The address of PostgreSQL without its password.
    let address: String
    var report = Report()

    /// Connects to PostgreSQL.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - schema: The schema of the tables.
    /// - Throws: The reason why the server cannot be reached.
    package init(_ address: PostgresAddress, schema: String = "posthorn") throws(StoreMoveError) {
        self.address = address.description
        var settings = PostgresSettings(applicationName: "posthorn-migrate", schema: schema)
        // A large table takes as long as it takes; the kernel still notices a server that is lost.
        settings.statementTimeout = .zero
        settings.answerTimeout = .seconds(86_400)
        do {
            connection = try PostgresConnection(to: address, settings: settings)
        } catch {
            throw .postgres(address: address.description, error)
        }
    }

    // MARK: For both directions

    func noteTable(_ name: String, _ sum: RowSum) {
        report.tables.append(Report.Table(name: name, rowCount: sum.count))
    }

    /// Runs a closure in a transaction of PostgreSQL, which is rolled back when the closure throws.
    func transaction(_ body: () throws(StoreMoveError) -> Void) throws(StoreMoveError) {
        var failure: StoreMoveError?
        do {
            try connection.transaction(isolation: .readCommitted) { () throws(SQLError) in
                do throws(StoreMoveError) { try body() } catch {
                    failure = error
                    throw SQLError(kind: .refused, code: "", message: "", subject: "")
                }
            }
        } catch {
            throw failure ?? .postgres(address: address, error)
        }
    }

    func postgres<Value>(_ body: () throws(SQLError) -> Value) throws(StoreMoveError) -> Value {
        do throws(SQLError) { return try body() } catch { throw .postgres(address: address, error) }
    }

    func sqlite<Value>(_ path: String, _ body: () throws(SQLError) -> Value) throws(StoreMoveError) -> Value {
        do throws(SQLError) { return try body() } catch { throw .sqlite(StoreError(error, path: path)) }
    }

    /// Refuses while a node is running, and lets no node start until the end of the transaction.
    func refuseRunningNodes() throws(StoreMoveError) {
        let name = try postgres { () throws(SQLError) -> String? in
            try connection.execute("SET LOCAL lock_timeout = '10s'; LOCK TABLE nodes IN EXCLUSIVE MODE")
            let select = try connection.prepare(
                """
                SELECT coalesce(name, CAST(number AS text)) FROM nodes
                WHERE seen_at > clock_timestamp() - ? * interval '1 second' ORDER BY number LIMIT 1
                """)
            select.bind(Int64(Self.heartbeatSeconds), at: 1)
            defer { select.reset() }
            return try select.step() ? select.string(0) : nil
        }
        if let name { throw .nodeRunning(address: address, name: name) }
    }

    /// Refuses a cluster whose devices are in several databases, of which the move knows one.
    func refuseFurtherShards() throws(StoreMoveError) {
        let count = try number("SELECT count(*) FROM slots WHERE shard <> 0 OR moving_to IS NOT NULL")
        guard count == 0 else { throw .severalShards(address: address) }
    }

    /// Returns the time of PostgreSQL in UNIX milliseconds.
    func now() throws(StoreMoveError) -> Int64 {
        try number("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)")
    }

    /// Returns the number that a query on PostgreSQL has as its only value; 0 for NULL.
    func number(_ sql: StaticString) throws(StoreMoveError) -> Int64 {
        try postgres { () throws(SQLError) in
            let select = try connection.prepare(sql)
            defer { select.reset() }
            return try select.step() ? select.int64(0) : 0
        }
    }

    /// Calls a closure for each row of a query on PostgreSQL.
    func forEachPostgresRow(
        _ query: String, _ types: [CopyColumn], _ take: ([SQLValue]) throws(StoreMoveError) -> Void
    ) throws(StoreMoveError) {
        let copy = try postgres { () throws(SQLError) in
            try connection.copyOut("COPY (\(query)) TO STDOUT (FORMAT binary)", types)
        }
        while let row = try postgres({ () throws(SQLError) in try copy.next() }) { try take(row) }
    }

    /// Calls a closure for each row of a query on SQLite.
    func forEachSQLiteRow(
        _ query: String, _ types: [CopyColumn], of file: Connection,
        _ take: ([SQLValue]) throws(StoreMoveError) -> Void
    ) throws(StoreMoveError) {
        let statement = try sqlite(file.path) { () throws(SQLError) in try file.prepare(text: query) }
        defer { statement.reset() }
        while try sqlite(file.path, { () throws(SQLError) in try statement.step() }) {
            try take(types.enumerated().map { statement.value(Int32($0.offset), $0.element) })
        }
    }
}

extension Statement {
    /// Returns the value of a column.
    fileprivate func value(_ column: Int32, _ type: CopyColumn) -> SQLValue {
        switch type {
        case .bigint, .integer: optionalInt64(column).map(SQLValue.number) ?? .null
        case .text: optionalString(column).map(SQLValue.text) ?? .null
        case .bytea: optionalBytes(column).map(SQLValue.bytes) ?? .null
        }
    }

    /// Binds a value.
    func bind(_ value: SQLValue, at index: Int32) {
        switch value {
        case .null: bind(Int64?.none, at: index)
        case .number(let number): bind(number, at: index)
        case .text(let text): bind(text, at: index)
        case .bytes(let bytes): bind(bytes, at: index)
        }
    }
}
