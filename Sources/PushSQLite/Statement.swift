// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
package import PushSQL

/// A prepared statement for repeated use.
///
/// It owns one `sqlite3_stmt *`. It is a class so that owners can store many in their properties.
@safe
package final class Statement: SQLStatement {
    private let handle: OpaquePointer
    private let connection: Connection
    private let sql: String
    /// The first failure of a `bind` since the last step, too long or out of memory; `step` throws it.
    private var bindCode = SQLITE_OK

    /// Compiles a statement with `sqlite3_prepare_v3` and SQLITE_PREPARE_PERSISTENT.
    init(_ sql: String, on connection: Connection) throws(SQLError) {
        var handle: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let prepared = unsafe handle else { throw connection.failure(code, about: sql) }
        unsafe self.handle = unsafe prepared
        self.connection = connection
        self.sql = sql
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Steps to the next row.
    ///
    /// When it returns false or throws, the statement is reset.
    ///
    /// - Returns: Whether there is a row to read.
    /// - Throws: The error that SQLite returned for this step or for an earlier `bind`.
    package func step() throws(SQLError) -> Bool {
        guard bindCode == SQLITE_OK else { throw bindFailure() }
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        guard code == SQLITE_DONE else {
            let failure = connection.failure(code, about: sql)
            reset()
            throw failure
        }
        reset()
        return false
    }

    /// Binds bytes without copying them, steps to the end, resets, and unbinds the bytes.
    package func run(lending bytes: [UInt8], at index: Int32) throws(SQLError) {
        try unsafe bytes.span.withUnsafeBytes { bytes throws(SQLError) in
            guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else {
                check(unsafe sqlite3_bind_zeroblob(handle, index, 0))
                return try run()
            }
            defer { bindNull(at: index) }
            check(unsafe sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil))
            try run()
        }
    }

    /// Binds parts of a byte array without copying them, steps to the end, resets, and unbinds them.
    ///
    /// - Parameters:
    ///   - bytes: The byte array, which is borrowed during the call.
    ///   - parts: The parameters and their ranges, which must not be empty.
    /// - Throws: The error that SQLite returned.
    package func run(lending bytes: [UInt8], _ parts: [(index: Int32, range: Range<Int>)]) throws(SQLError) {
        try unsafe bytes.span.withUnsafeBytes { bytes throws(SQLError) in
            defer { for part in parts { bindNull(at: part.index) } }
            for (index, range) in parts {
                let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
                check(unsafe sqlite3_bind_blob64(handle, index, part.baseAddress, UInt64(part.count), nil))
            }
            try run()
        }
    }

    /// Resets the statement to before its first row and keeps the bound values.
    ///
    /// Call this before the next execution if `step` has not returned false.
    package func reset() { unsafe sqlite3_reset(handle) }

    // MARK: Parameters, by position, from 1

    /// Binds a number.
    package func bind(_ value: Int64, at index: Int32) { check(unsafe sqlite3_bind_int64(handle, index, value)) }

    /// Binds a number or NULL.
    package func bind(_ value: Int64?, at index: Int32) {
        if let value { bind(value, at: index) } else { bindNull(at: index) }
    }

    /// Binds a text; SQLite copies it.
    package func bind(_ value: String, at index: Int32) {
        var value = value
        value.withUTF8 { text in
            guard let start = text.baseAddress, !text.isEmpty else {
                check(unsafe sqlite3_bind_text64(handle, index, "", 0, copying, UInt8(SQLITE_UTF8)))
                return
            }
            // SQLite declares char where Swift has UInt8.
            unsafe start.withMemoryRebound(to: CChar.self, capacity: text.count) { start in
                check(
                    unsafe sqlite3_bind_text64(
                        handle, index, start, UInt64(text.count), copying, UInt8(SQLITE_UTF8)))
            }
        }
    }

    /// Binds a text or NULL.
    package func bind(_ value: String?, at index: Int32) {
        if let value { bind(value, at: index) } else { bindNull(at: index) }
    }

    /// Binds bytes; SQLite copies them.
    package func bind(_ value: [UInt8], at index: Int32) {
        unsafe value.withUnsafeBytes { bytes in
            // A pointer to no bytes may be nil, which sqlite3_bind_blob64 binds as NULL.
            guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else {
                check(unsafe sqlite3_bind_zeroblob(handle, index, 0))
                return
            }
            check(unsafe sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), copying))
        }
    }

    /// Binds bytes or NULL.
    package func bind(_ value: [UInt8]?, at index: Int32) {
        if let value { bind(value, at: index) } else { bindNull(at: index) }
    }

    private func bindNull(at index: Int32) { check(unsafe sqlite3_bind_null(handle, index)) }

    private func check(_ code: Int32) {
        precondition(code != SQLITE_RANGE, "no such parameter in: \(sql)")
        precondition(code != SQLITE_MISUSE, "bound while the statement had rows left: \(sql)")
        if bindCode == SQLITE_OK { bindCode = code }
    }

    private func bindFailure() -> SQLError {
        defer { bindCode = SQLITE_OK }
        return SQLError(
            code: bindCode, message: unsafe String(cString: sqlite3_errstr(bindCode)), subject: sql)
    }

    // MARK: Columns of the row, by position, from 0

    /// Returns a number; 0 for NULL.
    package func int64(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    /// Returns a number, or nil for NULL.
    package func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

    /// Returns a text; empty for NULL, and with replacement characters for bytes that are not UTF-8.
    package func string(_ column: Int32) -> String {
        guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Returns a text, or nil for NULL.
    package func optionalString(_ column: Int32) -> String? { isNull(column) ? nil : string(column) }

    /// Returns bytes; empty for NULL.
    package func bytes(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    /// Passes the bytes of a column to a closure without copying them; no bytes for NULL.
    package func withBytes<Result>(_ column: Int32, _ body: (Span<UInt8>) -> Result) -> Result {
        let start = unsafe sqlite3_column_blob(handle, column)
        let count = unsafe start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
        return unsafe body(bytes.bindMemory(to: UInt8.self).span)
    }

    /// Returns bytes, or nil for NULL.
    package func optionalBytes(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : bytes(column) }

    private func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }
}

/// The value of SQLITE_TRANSIENT, which Swift cannot import: SQLite copies the bound value.
private var copying: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
