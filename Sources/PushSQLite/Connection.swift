// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
package import PushSQL
internal import Glibc

/// An open database, for use on one thread.
///
/// It owns one `sqlite3 *`. A statement keeps its connection alive, so the file is closed when the connection and its
/// statements are released.
@safe
package final class Connection: SQLDatabase {
    /// The failures that a commit survives.
    package enum Durability: Sendable {
        /// A commit survives a power loss; each commit costs one fsync.
        case full
        /// A commit survives the end of the process.
        ///
        /// A power loss may undo the last commits but does not damage the file.
        case normal
    }

    /// The path of the file, for error messages.
    package let path: String
    /// The number of pages in the write-ahead log after the last commit; 0 before `checkpointByHand` is called.
    package internal(set) var logPageCount = 0
    let handle: OpaquePointer

    /// Opens or creates a database file with safe settings.
    ///
    /// The file is created with mode 0600, which its write-ahead log inherits. The connection uses WAL and enforces
    /// foreign keys. It is in defensive mode, so SQL cannot damage the file, and functions in the schema are not
    /// trusted.
    ///
    /// - Parameters:
    ///   - path: The file. Its directory must exist and be writable.
    ///   - durability: The failures that a commit survives.
    ///   - exclusive: Whether to refuse other connections to the file while this one is open. If another connection
    ///     exists, opening fails immediately with `isBusy`. A connection that is not exclusive waits for a lock up to
    ///     five seconds.
    /// - Throws: The error that SQLite returned, with the path.
    package init(path: String, durability: Durability, exclusive: Bool) throws(SQLError) {
        Self.createFile(path)
        self.path = path
        unsafe handle = try Self.openToWrite(path)
        try secure()
        if exclusive {
            // This must precede the first access. The WAL index is then on the heap, and there is no shared-memory
            // file.
            try execute("PRAGMA locking_mode = EXCLUSIVE")
        } else {
            unsafe sqlite3_busy_timeout(handle, 5000)
        }
        try useWriteAheadLog()
        switch durability {
        case .full: try execute("PRAGMA synchronous = FULL")
        case .normal: try execute("PRAGMA synchronous = NORMAL")
        }
        // The first read takes the lock, so that a second server fails here and not at its first commit.
        try prepare("SELECT count(*) FROM sqlite_schema").run()
    }

    /// Opens a file that no process changes and that has no write-ahead log, without creating any file.
    ///
    /// - Parameter path: The file. It may be on a read-only file system.
    /// - Throws: The error that SQLite returned, with the path.
    package init(still path: String) throws(SQLError) {
        self.path = path
        // Without `immutable`, SQLite creates a `-wal` and a `-shm` file to read a database in WAL mode.
        let name = "file:\(Self.escaped(path))?immutable=1"
        unsafe handle = try Self.open(name, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, about: path)
        try secure()
        try prepare("SELECT count(*) FROM sqlite_schema").run()
    }

    /// Creates an empty in-memory database, which is deleted with the connection.
    init(inMemory name: String) throws(SQLError) {
        path = name
        unsafe handle = try Self.open(":memory:", flags: SQLITE_OPEN_READWRITE, about: name)
        try secure()
    }

    deinit { unsafe sqlite3_close_v2(handle) }

    /// Runs statements without parameters and ignores their rows, with `sqlite3_exec`.
    package func execute(_ sql: StaticString) throws(SQLError) { try execute(text: sql.description) }

    /// Compiles a statement for repeated use.
    package func prepare(_ sql: StaticString) throws(SQLError) -> Statement {
        try prepare(text: sql.description)
    }

    /// Compiles SQL text that is not a literal.
    ///
    /// Use it only to insert our own names where SQL allows no parameter.
    ///
    /// - Parameter text: The statement.
    /// - Returns: The statement.
    /// - Throws: The error that SQLite returned.
    package func prepare(text: String) throws(SQLError) -> Statement { try Statement(text, on: self) }

    /// Compiles a statement for repeated use; ignores the text for PostgreSQL.
    package func prepare(_ sql: StaticString, postgres: StaticString) throws(SQLError) -> Statement {
        try prepare(sql)
    }

    /// Runs a closure between BEGIN IMMEDIATE and COMMIT; rolls back when the closure or the commit throws.
    ///
    /// - Parameter body: Executes the statements. It must not begin a transaction.
    /// - Returns: The result of the closure, after the commit.
    /// - Throws: The error of the closure, of BEGIN or of COMMIT. The transaction then has no effect.
    package func transaction<Result>(_ body: () throws(SQLError) -> Result) throws(SQLError) -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // SQLite rolls back automatically after some failures, and a ROLLBACK without a transaction is an error.
            if unsafe sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// Runs a closure in a savepoint; rolls back only the closure's changes when it throws.
    package func savepoint(_ body: () throws(SQLError) -> Void) throws(SQLError) {
        try execute("SAVEPOINT part")
        do {
            try body()
        } catch {
            if unsafe sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK TO part; RELEASE part") }
            throw error
        }
        try execute("RELEASE part")
    }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    package var changedRowCount: Int { Int(unsafe sqlite3_changes64(handle)) }

    /// The row ID of the last INSERT.
    package var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Runs SQL text that is not a literal.
    ///
    /// Use it only to insert our own numbers where SQL allows no parameter.
    ///
    /// - Parameter text: The statements.
    /// - Throws: The error that SQLite returned.
    package func execute(text: String) throws(SQLError) {
        let code = unsafe sqlite3_exec(handle, text, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, about: text) }
    }

    /// Creates an error from a result code and the connection's last error message.
    func failure(_ code: Int32, about subject: String) -> SQLError {
        SQLError(code: code, message: unsafe String(cString: sqlite3_errmsg(handle)), subject: subject)
    }

    private func secure() throws(SQLError) {
        let code = unsafe push_sqlite_make_defensive(handle)
        guard code == SQLITE_OK else { throw failure(code, about: path) }
        unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 1 << 20)
        try execute("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON")
        // Sorting must not need space on a disk that may be full.
        try execute("PRAGMA temp_store = MEMORY")
    }

    private func useWriteAheadLog() throws(SQLError) {
        let statement = try prepare("PRAGMA journal_mode = WAL")
        let mode = try statement.step() ? statement.string(0) : ""
        statement.reset()
        guard mode == "wal" else {
            throw SQLError(
                code: SQLITE_CANTOPEN, message: "the file system allows no write-ahead log", subject: path)
        }
        // A checkpoint truncates the log file to this size, which bounds the space that a large transaction leaves
        // behind.
        try execute("PRAGMA journal_size_limit = 33554432")
    }

    /// Opens a file without creating it, because `createFile` has created it with the right mode.
    private static func openToWrite(_ path: String) throws(SQLError) -> OpaquePointer {
        let opened = unsafe try open(path, flags: SQLITE_OPEN_READWRITE, about: path)
        guard unsafe sqlite3_db_readonly(opened, "main") == 0 else {
            unsafe sqlite3_close_v2(opened)
            throw SQLError(code: SQLITE_READONLY, message: "the file may not be written", subject: path)
        }
        return unsafe opened
    }

    private static func open(
        _ name: String, flags: Int32, about path: String
    ) throws(SQLError) -> OpaquePointer {
        var handle: OpaquePointer?
        let code = unsafe sqlite3_open_v2(name, &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
        guard code == SQLITE_OK, let opened = unsafe handle else {
            let message = unsafe String(cString: handle.map { unsafe sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
            unsafe sqlite3_close_v2(handle)
            throw SQLError(code: code, message: message, subject: path)
        }
        return unsafe opened
    }

    /// Returns a path escaped for a URI: the characters that would end it become `%` and two hexadecimal digits.
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

    /// Creates an empty file with mode 0600 if none exists, because SQLite would let other users read it.
    ///
    /// It never opens an existing file. Closing a descriptor of a file in use would drop this process's locks on it.
    ///
    /// - Parameter path: The path of the file.
    private static func createFile(_ path: String) {
        let descriptor = unsafe Glibc.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }
}
