// SPDX-License-Identifier: Apache-2.0

internal import PushSQL
internal import PushSQLite

/// A failure after which the process that uses a store must exit.
package protocol StoreFailure: Error, CustomStringConvertible {
    /// The exit status, from sysexits.h.
    var exitStatus: Int32 { get }
}

/// A failure of the disk or the database.
package enum StoreError: Error, Sendable, Equatable {
    /// The file could not be opened or created.
    case cannotOpen(path: String, code: String, text: String)
    /// The file or its directory is not writable.
    case readOnly(path: String, code: String, text: String)
    /// Another process has the file open.
    case locked(path: String, code: String, text: String)
    /// A later version of the program created the file.
    case newerSchema(path: String, found: Int, known: Int)
    /// A step of the schema migration failed.
    ///
    /// The file keeps the schema version before that step.
    case migrationFailed(path: String, step: Int, code: String, text: String)
    /// The file is damaged, or is not a database.
    case damaged(path: String, code: String, text: String)
    /// The disk has no space left.
    case full(path: String, code: String, text: String)
    /// Reading, writing or syncing failed.
    case inputOutput(path: String, code: String, text: String)
    /// The database failed in another way.
    case failed(path: String, code: String, text: String)

    /// One sentence that tells the administrator what to do.
    package var remedy: String {
        switch self {
        case .cannotOpen: "Create the directory, and make the server's user its owner."
        case .readOnly: "Allow the server's user to write the file and its directory."
        case .locked: "Stop the other server that uses this data directory, or give this one a directory of its own."
        case .newerSchema: "Start the newer version of the server that made this file, or restore an older backup."
        case .migrationFailed:
            "Free space on the disk, then start the server again; the file still has the old schema version."
        case .damaged: "Check the disk, then restore the last backup."
        case .full: "Free space on the disk; the server then resumes without a restart."
        case .inputOutput: "Check the disk and its log messages, then start the server again."
        case .failed: "Restart the server, and report the error if it occurs again."
        }
    }

    /// The stable identifier of the error in logs.
    package var code: String {
        switch self {
        case .cannotOpen: "store-cannot-open"
        case .readOnly: "store-read-only"
        case .locked: "store-locked"
        case .newerSchema: "store-newer-schema"
        case .migrationFailed: "store-migration-failed"
        case .damaged: "store-damaged"
        case .full: "store-full"
        case .inputOutput: "store-input-output"
        case .failed: "store-failed"
        }
    }

    /// Whether another process has the file open, the only failure at startup that is not the file's fault.
    package var isLocked: Bool {
        if case .locked = self { true } else { false }
    }

    /// Classifies an error of the database by the action that it requires.
    init(_ error: SQLError, path: String) {
        let (code, text) = (error.code, error.message)
        switch error.kind {
        case .full: self = .full(path: path, code: code, text: text)
        case .cannotOpen, .disconnected: self = .cannotOpen(path: path, code: code, text: text)
        case .readOnly: self = .readOnly(path: path, code: code, text: text)
        case .busy: self = .locked(path: path, code: code, text: text)
        case .damaged: self = .damaged(path: path, code: code, text: text)
        case .inputOutput: self = .inputOutput(path: path, code: code, text: text)
        case .tooBig, .constraint, .conflict, .refused:
            self = .failed(path: path, code: code, text: "\(text), at \(error.subject)")
        }
    }

    /// Returns the error for a disk that is too full at startup even for the deletion reserve.
    static func noReserve(path: String) -> StoreError {
        .full(path: path, code: "13", text: "no space for the reserve that deletions need")
    }

    /// Classifies a migration error.
    init(_ error: MigrationError, path: String) {
        switch error {
        case .newer(let found, let known): self = .newerSchema(path: path, found: found, known: known)
        case .failed(let step, let error):
            // A full or broken disk and a lock are classified as elsewhere; only an error in our own SQL is a migration
            // failure.
            switch StoreError(error, path: path) {
            case .failed(_, let code, let text):
                self = .migrationFailed(path: path, step: step, code: code, text: text)
            case let sorted: self = sorted
            }
        }
    }
}

extension StoreError: StoreFailure {
    package var exitStatus: Int32 { isLocked ? 75 : 74 }

    /// A description of what happened, where, and what to do about it, for administrators.
    package var description: String { "\(whatHappened). \(remedy)" }

    /// A description of what happened and where, without a trailing period.
    package var whatHappened: String {
        switch self {
        case .cannotOpen(let path, let code, let text): "Cannot open \(path): \(text) (code \(code))"
        case .readOnly(let path, let code, let text): "Cannot write \(path): \(text) (code \(code))"
        case .locked(let path, let code, let text):
            "Another process has \(path) open: \(text) (code \(code))"
        case .newerSchema(let path, let found, let known):
            "\(path) has schema version \(found), and this program knows versions up to \(known)"
        case .migrationFailed(let path, let step, let code, let text):
            "Cannot migrate \(path) from schema version \(step) to \(step + 1): \(text) (code \(code))"
        case .damaged(let path, let code, let text): "\(path) is damaged: \(text) (code \(code))"
        case .full(let path, let code, let text): "No space for \(path): \(text) (code \(code))"
        case .inputOutput(let path, let code, let text):
            "I/O error on \(path): \(text) (code \(code))"
        case .failed(let path, let code, let text): "Database error on \(path): \(text) (code \(code))"
        }
    }
}
