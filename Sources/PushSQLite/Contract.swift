// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.

/// What SQLite answered, with the statement or file that it was about.
package struct SQLiteError: Error, Sendable {
    /// The extended result code.
    package var code: Int32
    /// SQLite's text.
    package var message: String
    /// The file, or the SQL.
    package var subject: String
    /// The disk is full.
    package var isFull: Bool { preconditionFailure("unwritten") }
    /// Reading, writing or syncing failed: after this nothing may be acknowledged.
    package var isInputOutput: Bool { preconditionFailure("unwritten") }
    /// The file is damaged.
    package var isCorrupt: Bool { preconditionFailure("unwritten") }
    /// Another process holds the file.
    package var isBusy: Bool { preconditionFailure("unwritten") }
    /// A uniqueness or foreign key rule was broken.
    package var isConstraint: Bool { preconditionFailure("unwritten") }
}

/// An open database; owns one `sqlite3 *`. One thread.
package final class Connection {
    package enum Durability: Sendable { case full, normal }
    /// Opens or creates with mode 0600, WAL, foreign keys on, defensive, exclusive to this process when asked for
    /// (`locking_mode = EXCLUSIVE`, so that a second server on the same file fails at once with `isBusy`).
    package init(path: String, durability: Durability, exclusive: Bool) throws(SQLiteError) {
        preconditionFailure("unwritten")
    }
    /// Runs statements without parameters.
    package func execute(_ sql: StaticString) throws(SQLiteError) { preconditionFailure("unwritten") }
    package func prepare(_ sql: StaticString) throws(SQLiteError) -> Statement { preconditionFailure("unwritten") }
    /// BEGIN IMMEDIATE, body, COMMIT; ROLLBACK when the body or the commit throws.
    package func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        preconditionFailure("unwritten")
    }
    /// Rows changed by the last statement.
    package var changedRowCount: Int { preconditionFailure("unwritten") }
    package var lastInsertedRow: Int64 { preconditionFailure("unwritten") }
}

/// A prepared statement; owns one `sqlite3_stmt *`, prepared once and used again. Class, so that owners can keep many.
package final class Statement {
    /// Binds by position, from 1. Bytes are copied only as far as SQLite must keep them beyond `step`.
    package func bind(_ value: Int64, at index: Int32) { preconditionFailure("unwritten") }
    package func bind(_ value: Int64?, at index: Int32) { preconditionFailure("unwritten") }
    package func bind(_ value: String, at index: Int32) { preconditionFailure("unwritten") }
    package func bind(_ value: String?, at index: Int32) { preconditionFailure("unwritten") }
    package func bind(_ value: [UInt8], at index: Int32) { preconditionFailure("unwritten") }
    package func bind(_ value: [UInt8]?, at index: Int32) { preconditionFailure("unwritten") }
    /// True when there is a row. After false the statement is reset.
    package func step() throws(SQLiteError) -> Bool { preconditionFailure("unwritten") }
    /// Steps to the end and resets.
    package func run() throws(SQLiteError) { preconditionFailure("unwritten") }
    package func reset() { preconditionFailure("unwritten") }
    package func int64(_ column: Int32) -> Int64 { preconditionFailure("unwritten") }
    package func optionalInt64(_ column: Int32) -> Int64? { preconditionFailure("unwritten") }
    package func string(_ column: Int32) -> String { preconditionFailure("unwritten") }
    package func optionalString(_ column: Int32) -> String? { preconditionFailure("unwritten") }
    package func bytes(_ column: Int32) -> [UInt8] { preconditionFailure("unwritten") }
    package func optionalBytes(_ column: Int32) -> [UInt8]? { preconditionFailure("unwritten") }
    init() {}
}

/// Schema versions by `PRAGMA user_version`: each step in one transaction; a newer file is refused.
package struct Migrations: Sendable {
    /// Step i takes version i to i + 1.
    package init(_ steps: [StaticString]) { preconditionFailure("unwritten") }
    package func apply(to connection: Connection) throws(MigrationError) { preconditionFailure("unwritten") }
}

/// Why a schema could not be brought up to date.
package enum MigrationError: Error, Sendable {
    case newer(found: Int, known: Int)
    case failed(step: Int, SQLiteError)
}
