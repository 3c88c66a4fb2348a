// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import Glibc

/// An open database, for one thread.
///
/// Owns one `sqlite3 *`. A statement keeps its connection alive, so the file is closed when the connection and its statements are gone.
@safe
package final class Connection {
    /// What a commit survives.
    package enum Durability: Sendable {
        /// Loss of power: one fsync for each commit.
        case full
        /// The end of the process; loss of power may undo the last commits but damages nothing.
        case normal
    }

    /// The file, for errors.
    package let path: String
    /// Pages in the write-ahead log after the last commit; counted from `checkpointByHand` on.
    package internal(set) var logPageCount = 0
    let handle: OpaquePointer

    /// Opens or creates a database file and sets it up for safe use.
    ///
    /// The file is made with mode 0600, which its write-ahead log inherits. The connection uses WAL, enforces foreign
    /// keys, and is defensive: no SQL can damage the file, and no function in a schema is trusted.
    /// - Parameters:
    ///   - path: The file; its directory must exist and be writable.
    ///   - durability: What a commit survives.
    ///   - exclusive: Whether any other connection to the file is refused for as long as this one is open, and this
    ///     one is refused at once with `isBusy` while there is another. Without it, waits up to five seconds for one.
    /// - Throws: What SQLite answered, about the path.
    package init(path: String, durability: Durability, exclusive: Bool) throws(SQLiteError) {
        Self.createFile(path)
        self.path = path
        unsafe handle = try Self.openToWrite(path)
        try secure()
        if exclusive {
            // Before the first access: then the index of the write-ahead log lies on the heap, and no file is shared.
            try execute("PRAGMA locking_mode = EXCLUSIVE")
        } else {
            unsafe sqlite3_busy_timeout(handle, 5000)
        }
        try useWriteAheadLog()
        switch durability {
        case .full: try execute("PRAGMA synchronous = FULL")
        case .normal: try execute("PRAGMA synchronous = NORMAL")
        }
        // A first read takes the lock, so that a second server fails here and not at its first commit.
        try prepare("SELECT count(*) FROM sqlite_schema").run()
    }

    /// Opens a file that nobody changes and that has no write-ahead log beside it, and leaves no trace of having done so.
    ///
    /// - Parameter path: The file; it may lie where nothing can be written.
    /// - Throws: What SQLite answered, about the path.
    package init(still path: String) throws(SQLiteError) {
        self.path = path
        // Without `immutable` SQLite makes files beside one that has used a write-ahead log, to read it.
        let name = "file:\(Self.escaped(path))?immutable=1"
        unsafe handle = try Self.open(name, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, about: path)
        try secure()
        try prepare("SELECT count(*) FROM sqlite_schema").run()
    }

    /// Makes an empty database that no file has; it goes with the connection.
    init(inMemory name: String) throws(SQLiteError) {
        path = name
        unsafe handle = try Self.open(":memory:", flags: SQLITE_OPEN_READWRITE, about: name)
        try secure()
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    /// Runs statements without parameters and ignores their rows, with `sqlite3_exec`.
    package func execute(_ sql: StaticString) throws(SQLiteError) { try execute(text: sql.description) }

    /// Compiles one statement that is kept and used again.
    package func prepare(_ sql: StaticString) throws(SQLiteError) -> Statement { try Statement(sql, on: self) }

    /// Runs a body between BEGIN IMMEDIATE and COMMIT; ROLLBACK when the body or the commit throws.
    ///
    /// - Parameter body: The statements; must not begin a transaction itself.
    /// - Returns: What the body returned, once it is committed.
    /// - Throws: What the body threw, or the failure of BEGIN or COMMIT; then nothing of the body has happened.
    package func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // SQLite rolls back by itself after some failures, and a ROLLBACK without transaction is an error.
            if unsafe sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Inside a transaction, does all of the body or nothing; what came before it in the transaction stays.
    package func part(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
        try execute("SAVEPOINT part")
        do {
            try body()
        } catch {
            if unsafe sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK TO part; RELEASE part") }
            throw error
        }
        try execute("RELEASE part")
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    package var changedRowCount: Int { Int(unsafe sqlite3_changes64(handle)) }

    /// The row id of the last INSERT.
    package var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Runs text that is not known to the compiler; only for numbers of our own, which no parameter can stand for.
    func execute(text: String) throws(SQLiteError) {
        let code = unsafe sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, about: text) }
    }

    /// Takes the last failure's code and text from the connection.
    func failure(_ code: Int32, about subject: String) -> SQLiteError {
        SQLiteError(code: code, message: unsafe String(cString: sqlite3_errmsg(handle)), subject: subject)
    }

    private func secure() throws(SQLiteError) {
        let code = unsafe push_sqlite_make_defensive(handle)
        guard code == SQLITE_OK else { throw failure(code, about: path) }
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 20)
        try execute("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON")
        // Sorting must not need space on a disk that may be full.
        try execute("PRAGMA temp_store = MEMORY")
    }

    private func useWriteAheadLog() throws(SQLiteError) {
        let statement = try prepare("PRAGMA journal_mode = WAL")
        let mode = try statement.step() ? statement.string(0) : ""
        statement.reset()
        guard mode == "wal" else {
            throw SQLiteError(
                code: SQLITE_CANTOPEN, message: "the file system allows no write-ahead log", subject: path)
        }
        // The file is cut to this after a checkpoint; it bounds what one large transaction leaves behind.
        try execute("PRAGMA journal_size_limit = 33554432")
    }

    /// Opens without creating: `createFile` has done that with the right mode.
    private static func openToWrite(_ path: String) throws(SQLiteError) -> OpaquePointer {
        let opened = unsafe try open(path, flags: SQLITE_OPEN_READWRITE, about: path)
        guard unsafe sqlite3_db_readonly(opened, "main") == 0 else {
            unsafe sqlite3_close_v2(opened)
            throw SQLiteError(code: SQLITE_READONLY, message: "the file may not be written", subject: path)
        }
        return unsafe opened
    }

    /// Opens with `sqlite3_open_v2`.
    private static func open(
        _ name: String, flags: Int32, about path: String
    ) throws(SQLiteError) -> OpaquePointer {
        var handle: OpaquePointer?
        let code = unsafe sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened = unsafe handle else {
            let message = unsafe String(cString: handle.map { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
            unsafe sqlite3_close_v2(handle)
            throw SQLiteError(code: code, message: message, subject: path)
        }
        return unsafe opened
    }

    /// A path as it stands in a URI: what would end it there is written as `%` and two hexadecimal digits.
    private static func escaped(_ path: String) -> String {
        var text = ""
        for character in path.unicodeScalars {
            switch character {
            case "%": text += "%25"
            case "?": text += "%3f"
            case "#": text += "%23"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }

    /// Makes an empty file with mode 0600 where there is none; SQLite itself would let others read it.
    ///
    /// Only ever opens a new file: closing a descriptor of one that is in use would drop this process's locks on it.
    private static func createFile(_ path: String) {
        let descriptor = unsafe Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }
}
