// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

extension Connection {
    /// How far a checkpoint goes.
    package enum Checkpoint: Sendable {
        /// Copies the write-ahead log into the database; the log's file keeps its size and is written from its start.
        case passive
        /// Also cuts the log's file to nothing.
        case truncate
    }

    /// Leaves checkpoints to the caller, who watches `logPageCount`.
    ///
    /// SQLite's own checkpoint runs inside the commit that filled the log, which makes whoever waits for that commit
    /// wait for it too, and its failures are seen by nobody.
    package func checkpointByHand() {
        unsafe sqlite3_wal_hook(handle, noteCommit, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Copies the write-ahead log into the database, with `sqlite3_wal_checkpoint_v2`.
    package func checkpoint(_ checkpoint: Checkpoint) throws(SQLiteError) {
        let mode =
            switch checkpoint {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
        guard code == SQLITE_OK else { throw failure(code, about: path) }
        logPageCount = 0
    }

    /// How many pages the database has and does not use (`PRAGMA freelist_count`).
    package func unusedPageCount() throws(SQLiteError) -> Int {
        let statement = try prepare("PRAGMA freelist_count")
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    /// Lets closing leave the write-ahead log alone; for after a failed write, when nothing may be synced again.
    package func leaveLogOnClose() { unsafe push_sqlite_leave_log_on_close(handle) }
}

/// Called by SQLite after each commit with the number of pages in the write-ahead log.
private func noteCommit(
    context: UnsafeMutableRawPointer?, handle: OpaquePointer?, name: UnsafePointer<CChar>?, pageCount: Int32
) -> Int32 {
    guard let context = unsafe context else { return SQLITE_OK }
    unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPageCount = Int(pageCount)
    return SQLITE_OK
}
