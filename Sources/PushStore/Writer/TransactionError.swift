// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The failure of a transaction, classified by the writer's next action.
enum TransactionError: Error {
    /// The disk or the file failed.
    ///
    /// Nothing may be acknowledged any more, and nothing is retried.
    case fatal(StoreError)
    /// The disk has no space.
    ///
    /// Commands that need none may be retried.
    case full(StoreError)
    /// SQLite refused a statement.
    ///
    /// The other commands may be retried without it.
    case refused(StoreError)

    /// Classifies an SQLite error.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - path: The database file.
    ///   - isCommitting: Whether COMMIT or a checkpoint failed, so that the disk is at fault and not a statement.
    init(_ error: SQLError, path: String, isCommitting: Bool) {
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
