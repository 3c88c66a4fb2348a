// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// A copy of an open database, made some pages at a time while its connection goes on being used.
///
/// Owns one `sqlite3_backup *` and the connection to the new file. What the source's own connection commits between two
/// steps reaches the pages that were copied already, so the copy is the database as it is after the last step.
@safe
package final class DatabaseCopy {
    /// The new file.
    package let path: String
    /// Pages of the source as of the last step.
    package var pageCount: Int { Int(unsafe sqlite3_backup_pagecount(handle)) }
    /// Pages that are not copied yet, as of the last step.
    package var remainingPageCount: Int { Int(unsafe sqlite3_backup_remaining(handle)) }

    private let source: Connection
    private let target: OpaquePointer
    private let handle: OpaquePointer

    /// Makes an empty file and begins, with `sqlite3_backup_init`; copies nothing yet.
    ///
    /// The new file is neither journaled nor synchronized: it is worth nothing before the last step, and whoever wants
    /// it to last synchronizes it then.
    /// - Parameters:
    ///   - source: The open database.
    ///   - path: The new file, made with mode 0600; there must be none.
    /// - Throws: What SQLite answered, about the new file.
    package init(of source: Connection, to path: String) throws(SQLiteError) {
        let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SQLiteError(code: SQLITE_CANTOPEN, message: Self.text(ofErrno: errno), subject: path)
        }
        close(descriptor)
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        if code == SQLITE_OK {
            code = unsafe sqlite3_exec(opened, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil)
        }
        guard code == SQLITE_OK, let target = unsafe opened,
            let handle = unsafe sqlite3_backup_init(target, "main", source.handle, "main")
        else {
            let failure = unsafe Self.failure(code, opened, path)
            unsafe sqlite3_close_v2(opened)
            throw failure
        }
        self.source = source
        self.path = path
        unsafe self.target = unsafe target
        unsafe self.handle = unsafe handle
    }

    deinit {
        unsafe sqlite3_backup_finish(handle)
        unsafe sqlite3_close_v2(target)
    }

    /// Copies the next pages, with `sqlite3_backup_step`; outside of a transaction.
    ///
    /// - Parameter pageCount: At most so many.
    /// - Returns: Whether the copy is complete.
    /// - Throws: What SQLite answered to reading the source or writing the copy; the copy is worth nothing then.
    package func step(pageCount: Int) throws(SQLiteError) -> Bool {
        let code = unsafe sqlite3_backup_step(handle, Int32(clamping: pageCount))
        switch code {
        case SQLITE_OK: return false
        case SQLITE_DONE: return true
        default: throw SQLiteError(code: code, message: unsafe String(cString: sqlite3_errstr(code)), subject: path)
        }
    }

    private static func failure(_ code: Int32, _ target: OpaquePointer?, _ path: String) -> SQLiteError {
        let found = code == SQLITE_OK ? unsafe sqlite3_extended_errcode(target) : code
        let message = unsafe String(cString: target.map { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(found))
        return SQLiteError(code: found, message: message, subject: path)
    }

    private static func text(ofErrno code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
