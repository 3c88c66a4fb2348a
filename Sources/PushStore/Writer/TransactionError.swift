// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// Why a transaction did not happen, by what the writer does next.
enum TransactionError: Error {
    /// The disk or the file failed: nothing may be acknowledged any more, and nothing is tried again.
    case fatal(StoreError)
    /// The disk has no space: what needs none may be tried.
    case full(StoreError)
    /// SQLite refused a statement: the others may be tried without it.
    case refused(StoreError)

    /// Sorts what SQLite answered.
    ///
    /// - Parameters:
    ///   - error: SQLite's answer.
    ///   - path: The database file.
    ///   - isCommitting: Whether COMMIT or a checkpoint failed: no statement is at fault then, but the disk.
    init(_ error: SQLiteError, path: String, isCommitting: Bool) {
        let storeError = StoreError(error, path: path)
        switch storeError {
        case .full: self = .full(storeError)
        case .locked: self = .refused(storeError)
        case .inputOutput, .damaged, .readOnly, .cannotOpen: self = .fatal(storeError)
        case .failed: self = isCommitting ? .fatal(storeError) : .refused(storeError)
        case .newerSchema, .migrationFailed: self = .fatal(storeError)
        }
    }
}
