// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushNet
package import PushSQL

/// The reason why the agent's own files cannot be used.
package enum StorageError: Error, Sendable {
    /// A directory could not be created, or other users can access it; with the path and errno.
    case directory(path: String, code: Int32)
    /// Another agent of the same user is running; with the path of its lock file.
    case alreadyRunning(lockPath: String)
    /// A file could not be read or written; with the path and errno.
    case file(path: String, code: Int32)
    /// SQLite returned an error.
    case database(SQLError)
    /// The file is not a database, or parts of it are damaged.
    case damagedDatabase(path: String, SQLError)
    /// A later version of the agent created the database.
    case newerDatabase(path: String, found: Int, known: Int)

    /// Creates an error from the failure of a private file.
    package init(_ path: String, _ error: NetError) {
        guard case .system(_, let code, _) = error else {
            self = .file(path: path, code: EIO)
            return
        }
        self = .file(path: path, code: code)
    }

    /// One line that describes the problem.
    package var message: String {
        switch self {
        case .directory(let path, let code): "cannot use the directory \(path): \(SystemError.text(code))"
        case .alreadyRunning(let path): "another agent of this user is already running and has locked \(path)"
        case .file(let path, let code): "cannot read or write \(path): \(SystemError.text(code))"
        case .database(let error): "database error: \(error)"
        case .damagedDatabase(let path, let error): "\(path) is damaged: \(error)"
        case .newerDatabase(let path, let found, let known):
            "\(path) has schema version \(found), and this agent knows versions up to \(known)"
        }
    }

    /// One line that describes the fix.
    package var remedy: String {
        switch self {
        case .directory, .file: "Make this user its owner, set mode 0700, and check that the disk is not full."
        case .alreadyRunning: "Use the running agent ('posthorn agent status'), or stop it first."
        case .database: "Check that the disk works and is not full."
        case .damagedDatabase(let path, _):
            "Restore it from a backup, or move it away together with \(path)-wal, and restart the agent. Without it "
                + "the inbox, settings, badges, registrations and the enrolment are lost; "
                + "then run 'posthorn agent enrol'."
        case .newerDatabase: "Install the newer version of the agent again."
        }
    }
}
