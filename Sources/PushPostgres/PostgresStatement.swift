// SPDX-License-Identifier: Apache-2.0

package import PushSQL

/// A statement for repeated use.
///
/// The first step executes it and receives all of its rows, so a query must bound their number. It is a class so that
/// owners can store many in their properties.
@safe
package final class PostgresStatement: SQLStatement {
    private let connection: PostgresConnection
    private let sql: StaticString
    private let text: String
    private let parameters: PostgresParameters
    private var result = PostgresResult()
    /// The current row; nil before the first step.
    private var row: Int?

    init(_ sql: StaticString, on connection: PostgresConnection) {
        let translated = Placeholders(sql.description)
        self.sql = sql
        self.connection = connection
        text = translated.text
        parameters = PostgresParameters(count: translated.parameterCount)
    }

    /// Steps to the next row; the first step executes the statement.
    ///
    /// When it returns false or throws, the statement is reset.
    ///
    /// - Returns: Whether there is a row to read.
    /// - Throws: The error that the server returned.
    package func step() throws(SQLError) -> Bool {
        let next: Int
        if let row {
            next = row + 1
        } else {
            result = try execute()
            next = 0
        }
        guard next < result.rowCount else {
            reset()
            return false
        }
        row = next
        return true
    }

    /// Resets the statement to before its first row and keeps the bound values.
    ///
    /// Call this before the next execution if `step` has not returned false.
    package func reset() {
        row = nil
        result = PostgresResult()
    }

    private func execute() throws(SQLError) -> PostgresResult {
        do throws(SQLError) {
            return try connection.execute(text, parameters)
        } catch {
            var failure = error
            failure.subject = sql.description
            throw failure
        }
    }

    // MARK: Parameters, by position, from 1

    /// Binds a number.
    package func bind(_ value: Int64, at index: Int32) { parameters.set(value, at: position(index)) }

    /// Binds a number or NULL.
    package func bind(_ value: Int64?, at index: Int32) { parameters.set(value, at: position(index)) }

    /// Binds a text; U+FFFD replaces each NUL, which PostgreSQL does not store.
    package func bind(_ value: String, at index: Int32) {
        parameters.set(PostgresText.storable(value), at: position(index))
    }

    /// Binds a text or NULL.
    package func bind(_ value: String?, at index: Int32) {
        parameters.set(value.map(PostgresText.storable), at: position(index))
    }

    /// Binds an array of bytes.
    package func bind(_ value: [UInt8], at index: Int32) { parameters.set(value.span, at: position(index)) }

    /// Binds bytes or NULL.
    package func bind(_ value: [UInt8]?, at index: Int32) { parameters.set(value, at: position(index)) }

    private func position(_ index: Int32) -> Int {
        precondition(row == nil, "bound while the statement had rows left: \(sql)")
        precondition(index >= 1 && Int(index) <= parameters.count, "no such parameter in: \(sql)")
        return Int(index) - 1
    }

    // MARK: Columns of the row, by position, from 0

    /// Returns a number of type smallint, integer, bigint or boolean; 0 for NULL.
    package func int64(_ column: Int32) -> Int64 { optionalInt64(column) ?? 0 }

    /// Returns a number of type smallint, integer, bigint or boolean, or nil for NULL.
    package func optionalInt64(_ column: Int32) -> Int64? { result.optionalInt64(currentRow, Int(column)) }

    /// Returns a text; empty for NULL, and with replacement characters for bytes that are not UTF-8.
    package func string(_ column: Int32) -> String { optionalString(column) ?? "" }

    /// Returns a text, or nil for NULL.
    package func optionalString(_ column: Int32) -> String? { result.optionalString(currentRow, Int(column)) }

    /// Returns bytes; empty for NULL.
    package func bytes(_ column: Int32) -> [UInt8] { optionalBytes(column) ?? [] }

    /// Returns bytes, or nil for NULL.
    package func optionalBytes(_ column: Int32) -> [UInt8]? { result.optionalBytes(currentRow, Int(column)) }

    private var currentRow: Int {
        guard let row else { preconditionFailure("read without a row: \(sql)") }
        return row
    }
}
