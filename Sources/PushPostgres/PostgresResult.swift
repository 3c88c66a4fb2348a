// SPDX-License-Identifier: Apache-2.0

internal import CPQ
package import PushSQL

/// The result of one statement: its rows in binary form, the number of changed rows, or the error.
///
/// The structure owns one `PGresult *`. Reading a value copies only this value. Rows and columns are counted from 0.
@safe
package struct PostgresResult: ~Copyable {
    /// The outcome of a statement.
    enum Status {
        /// The statement succeeded; a query may have returned rows.
        case succeeded
        /// The statement failed; see `failure`.
        case failed
        /// An earlier statement of the pipeline failed, so the server skipped this one.
        case skipped
        /// The end of a part of the pipeline.
        case synced
        /// The statement is a COPY, whose rows follow.
        case copying
    }

    private let handle: OpaquePointer?

    /// Creates a result without rows.
    init() { unsafe handle = nil }

    /// Takes ownership of a result of libpq.
    init(adopting handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe PQclear(handle) }

    var status: Status {
        switch unsafe PQresultStatus(handle) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: .succeeded
        case PGRES_PIPELINE_SYNC: .synced
        case PGRES_PIPELINE_ABORTED: .skipped
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH: .copying
        default: .failed
        }
    }

    /// Whether the statement succeeded; in a pipeline, its changes last only after the next `synced`.
    package var isSuccess: Bool { status == .succeeded }

    /// The number of rows.
    package var rowCount: Int { Int(unsafe PQntuples(handle)) }

    /// The number of rows that an INSERT, UPDATE or DELETE changed; nil for other statements.
    package var changedRowCount: Int? {
        guard let tag = unsafe PQcmdStatus(handle) else { return nil }
        // The first byte is enough: no other statement that returns a count begins with these letters.
        switch unsafe UInt8(bitPattern: tag.pointee) {
        case UInt8(ascii: "I"), UInt8(ascii: "U"), UInt8(ascii: "D"): break
        default: return nil
        }
        guard let digits = unsafe PQcmdTuples(handle) else { return nil }
        return Int(unsafe String(cString: digits))
    }

    /// The number of rows that a COPY transferred.
    var copiedRowCount: Int { unsafe PQcmdTuples(handle).flatMap { unsafe Int(String(cString: $0)) } ?? 0 }

    /// The word that names the executed statement, for example `COMMIT`.
    var tag: String { unsafe PQcmdStatus(handle).map { unsafe String(cString: $0) } ?? "" }

    // MARK: Values

    /// Returns whether a value is NULL.
    package func isNull(_ row: Int, _ column: Int) -> Bool {
        check(row, column)
        return unsafe PQgetisnull(handle, Int32(row), Int32(column)) != 0
    }

    /// Returns a number of type smallint, integer, bigint or boolean; 0 for NULL.
    package func int64(_ row: Int, _ column: Int) -> Int64 { optionalInt64(row, column) ?? 0 }

    /// Returns a number of type smallint, integer, bigint or boolean, or nil for NULL.
    package func optionalInt64(_ row: Int, _ column: Int) -> Int64? {
        guard let bytes = unsafe value(row, column) else { return nil }
        let type = unsafe PQftype(handle, Int32(column))
        switch (PostgresType(rawValue: type), bytes.count) {
        case (.int8, 8): return unsafe Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case (.int4, 4): return unsafe Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int2, 2): return unsafe Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (.bool, 1): return unsafe bytes[0] == 0 ? 0 : 1
        default: preconditionFailure("column \(column) has the type \(type), which is not a whole number")
        }
    }

    /// Passes the bytes of a value of type bytea or text to a closure without copying them; no bytes for NULL.
    package func withBytes<Result>(_ row: Int, _ column: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        let bytes = unsafe textOrBytes(row, column) ?? UnsafeRawBufferPointer(start: nil, count: 0)
        return unsafe body(bytes.bindMemory(to: UInt8.self).span)
    }

    /// Returns the bytes of a value of type bytea or text, or nil for NULL.
    package func optionalBytes(_ row: Int, _ column: Int) -> [UInt8]? {
        guard let bytes = unsafe textOrBytes(row, column) else { return nil }
        return unsafe [UInt8](bytes)
    }

    /// Returns a text, or nil for NULL; bytes that are not UTF-8 become replacement characters.
    package func optionalString(_ row: Int, _ column: Int) -> String? {
        guard let bytes = unsafe textOrBytes(row, column) else { return nil }
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    private func textOrBytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        let type = unsafe PQftype(handle, Int32(column))
        switch PostgresType(rawValue: type) {
        case .bytea, .text, .varchar, .bpchar, .name: break
        // A parameter without a type is a text; a column that does not exist is reported below.
        case .derived: break
        default: preconditionFailure("column \(column) has the type \(type), which is neither text nor bytes")
        }
        return unsafe value(row, column)
    }

    /// Returns the bytes of a value, or nil for NULL; they are valid as long as the result.
    private func value(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        check(row, column)
        let (row, column) = (Int32(row), Int32(column))
        guard unsafe PQgetisnull(handle, row, column) == 0 else { return nil }
        return unsafe UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
    }

    private func check(_ row: Int, _ column: Int) {
        precondition(row >= 0 && row < Int(unsafe PQntuples(handle)), "the result has no row \(row)")
        precondition(column >= 0 && column < Int(unsafe PQnfields(handle)), "the result has no column \(column)")
    }

    // MARK: Errors

    /// Returns the SQLSTATE of a failed statement; nil for success and for errors of libpq itself.
    package var sqlState: String? { field(PostgresField.sqlState) }

    /// Creates the error of a failed statement.
    ///
    /// The detail and the context of the server's message are left out, because they may contain values of rows.
    ///
    /// - Parameter subject: The SQL text.
    /// - Returns: The error; `disconnected` if libpq reports it without an SQLSTATE, because it then has no answer.
    package func failure(about subject: String) -> SQLError {
        if status == .skipped {
            return SQLError(
                kind: .refused, code: "25P02", message: "an earlier statement of the batch failed", subject: subject)
        }
        guard let state = sqlState else {
            let message = unsafe PQresultErrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
            return .lost(message.oneLine, about: subject)
        }
        let message = field(PostgresField.message) ?? ""
        return SQLError(kind: .init(sqlState: state), code: state, message: message.oneLine, subject: subject)
    }

    private func field(_ code: Int32) -> String? {
        unsafe PQresultErrorField(handle, code).map { unsafe String(cString: $0) }
    }
}

/// The codes of the fields of an error or a notice, which libpq declares as characters.
enum PostgresField {
    static let sqlState = Int32(UInt8(ascii: "C"))
    static let message = Int32(UInt8(ascii: "M"))
    static let sourceFunction = Int32(UInt8(ascii: "R"))
}

extension String {
    /// The text with spaces in place of its line feeds and tabs, and without those at its end.
    var oneLine: String { split { $0 == "\n" || $0 == "\t" }.joined(separator: " ") }
}
