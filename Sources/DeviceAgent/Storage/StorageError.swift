// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet
package import PushSQLite

/// Why the agent's own files cannot be used.
package enum StorageError: Error, Sendable {
    /// A directory could not be made, or is not ours alone: path and errno.
    case directory(path: String, code: Int32)
    /// Another agent of the same person runs; the file that it holds.
    case alreadyRunning(lockPath: String)
    /// A file could not be read or written: path and errno.
    case file(path: String, code: Int32)
    /// SQLite refused.
    case database(SQLiteError)
    /// The file is no database any more, or parts of it are wrong.
    case damagedDatabase(path: String, SQLiteError)
    /// The database was made by a later version.
    case newerDatabase(path: String, found: Int, known: Int)

    /// What went wrong with a private file.
    init(_ path: String, _ error: NetError) {
        guard case .system(_, let code, _) = error else {
            self = .file(path: path, code: EIO)
            return
        }
        self = .file(path: path, code: code)
    }

    /// One line that says what is wrong.
    package var message: String {
        switch self {
        case .directory(let path, let code): "cannot use the directory \(path): \(SystemError.text(code))"
        case .alreadyRunning(let path): "another agent of this person runs already and holds \(path)"
        case .file(let path, let code): "cannot read or write \(path): \(SystemError.text(code))"
        case .database(let error): "the agent's database refused: \(error)"
        case .damagedDatabase(let path, let error): "\(path) is damaged: \(error)"
        case .newerDatabase(let path, let found, let known):
            "\(path) has schema version \(found), and this agent knows versions up to \(known)"
        }
    }

    /// One line that says what to do.
    package var remedy: String {
        switch self {
        case .directory, .file: "Make it belong to this user, with mode 0700, on a disk that has room."
        case .alreadyRunning: "Use the agent that runs ('posthorn agent status'), or stop it first."
        case .database: "Check that the disk has room and works."
        case .damagedDatabase(let path, _):
            "Put back a copy of it, or move it away, with \(path)-wal, and start again: the inbox, settings, badges and "
                + "registrations go with it, and so does the enrolment. Then enrol anew: 'posthorn agent enrol'."
        case .newerDatabase: "Install the newer agent again."
        }
    }
}
