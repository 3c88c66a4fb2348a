// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
package import PushSQL

extension Connection {
    /// The mode of a checkpoint.
    package enum Checkpoint: Sendable {
        /// Copies the write-ahead log into the database.
        ///
        /// The log file keeps its size and is overwritten from its start.
        case passive
        /// Also truncates the log file to zero bytes.
        case truncate
    }

    /// Disables automatic checkpoints; the caller must watch `logPageCount` and run them.
    ///
    /// SQLite's automatic checkpoint runs inside the commit that fills the log. It delays that commit, and its failures
    /// are not reported.
    package func checkpointByHand() {
        unsafe sqlite3_wal_hook(handle, noteCommit, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Copies the write-ahead log into the database, with `sqlite3_wal_checkpoint_v2`.
    package func checkpoint(_ checkpoint: Checkpoint) throws(SQLError) {
        let mode =
            switch checkpoint {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, about: path) }
        logPageCount = 0
    }

    /// Returns the number of unused pages in the database (`PRAGMA freelist_count`).
    package func unusedPageCount() throws(SQLError) -> Int {
        let statement = try prepare("PRAGMA freelist_count")
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    /// Prevents that closing checkpoints the write-ahead log.
    ///
    /// Call it after a failed write, when nothing may be synced again.
    package func leaveLogOnClose() { unsafe push_sqlite_leave_log_on_close(handle) }
}

/// Stores the number of pages in the write-ahead log; SQLite calls it after each commit.
private func noteCommit(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, name: UnsafePointer<CChar>?, pageCount: Int32
) -> Int32 {
    guard let context = unsafe context else { return SQLITE_OK }
    unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPageCount = Int(pageCount)
    return SQLITE_OK
}
