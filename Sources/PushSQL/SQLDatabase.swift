// SPDX-License-Identifier: Apache-2.0

/// A connection to a database engine, for use on one thread.
///
/// The tables of the store that both engines have use it. Each engine translates the placeholders: `?` stands for the
/// next parameter, `?1` for the first one.
package protocol SQLDatabase: AnyObject {
    associatedtype Statement: SQLStatement

    /// Prepares a statement for repeated use.
    ///
    /// - Parameter sql: The text, which both engines must understand.
    /// - Returns: The statement.
    /// - Throws: The error that the engine returned. PostgreSQL reads the text when the statement is first executed.
    func prepare(_ sql: StaticString) throws(SQLError) -> Statement

    /// Prepares a statement that differs between the engines.
    ///
    /// - Parameters:
    ///   - sql: The text for SQLite.
    ///   - postgres: The text for PostgreSQL.
    /// - Returns: The statement.
    /// - Throws: The error that the engine returned.
    func prepare(_ sql: StaticString, postgres: StaticString) throws(SQLError) -> Statement

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    var changedRowCount: Int { get }
}

/// A prepared statement for repeated use.
package protocol SQLStatement: AnyObject {
    /// Steps to the next row; the first step executes the statement.
    ///
    /// When it returns false or throws, the statement is reset.
    ///
    /// - Returns: Whether there is a row to read.
    /// - Throws: The error that the engine returned.
    func step() throws(SQLError) -> Bool

    /// Resets the statement to before its first row and keeps the bound values.
    ///
    /// Call this before the next execution if `step` has not returned false.
    func reset()

    // Parameters, by position, from 1

    /// Binds a number.
    func bind(_ value: Int64, at index: Int32)
    /// Binds a number or NULL.
    func bind(_ value: Int64?, at index: Int32)
    /// Binds a text.
    func bind(_ value: String, at index: Int32)
    /// Binds a text or NULL.
    func bind(_ value: String?, at index: Int32)
    /// Binds an array of bytes.
    func bind(_ value: [UInt8], at index: Int32)
    /// Binds bytes or NULL.
    func bind(_ value: [UInt8]?, at index: Int32)

    // Columns of the row, by position, from 0

    /// Returns a number; 0 for NULL.
    func int64(_ column: Int32) -> Int64
    /// Returns a number, or nil for NULL.
    func optionalInt64(_ column: Int32) -> Int64?
    /// Returns a text; empty for NULL, and with replacement characters for bytes that are not UTF-8.
    func string(_ column: Int32) -> String
    /// Returns a text, or nil for NULL.
    func optionalString(_ column: Int32) -> String?
    /// Returns bytes; empty for NULL.
    func bytes(_ column: Int32) -> [UInt8]
    /// Returns bytes, or nil for NULL.
    func optionalBytes(_ column: Int32) -> [UInt8]?
}

extension SQLStatement {
    /// Steps to the end and resets.
    package func run() throws(SQLError) {
        while try step() {}
    }
}
