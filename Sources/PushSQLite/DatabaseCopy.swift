// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
package import PushSQL
internal import Glibc

/// A copy of an open database, made a few pages at a time while its connection stays in use.
///
/// It owns one `sqlite3_backup *` and the connection to the new file. Commits of the source's own connection between
/// two steps also update the pages that are copied already. The copy is therefore the database as it is after the last
/// step.
@safe
package final class DatabaseCopy {
    /// The path of the new file.
    package let path: String
    /// The number of pages of the source, as of the last step.
    package var pageCount: Int { Int(unsafe sqlite3_backup_pagecount(handle)) }
    /// The number of pages that are not copied yet, as of the last step.
    package var remainingPageCount: Int { Int(unsafe sqlite3_backup_remaining(handle)) }

    private let source: Connection
    private let target: OpaquePointer
    private let handle: OpaquePointer

    /// Creates an empty file and starts a copy with `sqlite3_backup_init`; copies no page yet.
    ///
    /// The new file is neither journaled nor synchronized, because it is unusable before the last step. The caller
    /// synchronizes it afterwards if it must be durable.
    ///
    /// - Parameters:
    ///   - source: The open database.
    ///   - path: The path of the new file, which is created with mode 0600. No file may exist there.
    /// - Throws: The error that SQLite returned, with the path of the new file.
    package init(of source: Connection, to path: String) throws(SQLError) {
        let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw SQLError(code: SQLITE_CANTOPEN, message: Self.text(ofErrno: errno), subject: path)
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

    /// Copies the next pages with `sqlite3_backup_step`; must not be called in a transaction.
    ///
    /// - Parameter pageCount: The maximum number of pages.
    /// - Returns: Whether the copy is complete.
    /// - Throws: The error of reading the source or writing the copy. The copy is then unusable.
    package func step(pageCount: Int) throws(SQLError) -> Bool {
        let code = unsafe sqlite3_backup_step(handle, Int32(clamping: pageCount))
        switch code {
        case SQLITE_OK: return false
        case SQLITE_DONE: return true
        default: throw SQLError(code: code, message: unsafe String(cString: sqlite3_errstr(code)), subject: path)
        }
    }

    private static func failure(_ code: Int32, _ target: OpaquePointer?, _ path: String) -> SQLError {
        let found = code == SQLITE_OK ? unsafe sqlite3_extended_errcode(target) : code
        let message = unsafe String(cString: target.map { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(found))
        return SQLError(code: found, message: message, subject: path)
    }

    private static func text(ofErrno code: Int32) -> String { unsafe String(cString: strerror(code)) }
}
