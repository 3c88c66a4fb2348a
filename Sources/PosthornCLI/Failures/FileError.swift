// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore

/// A failed file operation, with the system's error number.
package struct FileError: Error, Equatable, Sendable {
    /// The operation that failed.
    enum Attempt: Equatable, Sendable {
        case read, create, write
    }

    /// The error number for a missing file.
    static let notThere = ENOENT
    /// The error number that stands for a pipe, device or socket where a regular file is required.
    static let notRegular = ESPIPE

    let attempt: Attempt
    let path: String
    /// The `errno` value.
    let code: Int32

    init(_ attempt: Attempt, path: String, code: Int32) {
        self.attempt = attempt
        self.path = path
        self.code = code
    }

    /// The problem, in one line.
    var problem: String {
        let text = code == Self.notRegular ? "not a regular file" : unsafe String(cString: strerror(code))
        return switch attempt {
        case .read: "cannot read \(path): \(text)"
        case .create where code == EEXIST: "\(path) already exists; not overwritten"
        case .create: "cannot create \(path): \(text)"
        case .write: "cannot write \(path): \(text)"
        }
    }

    /// The remedy, in one line; empty if the problem says enough.
    var remedy: String {
        switch code {
        case EEXIST: ""
        case ENOENT, ENOTDIR: attempt == .read ? "Check the path." : "Create the directory first."
        case EACCES, EPERM: "Check the permissions of the \(attempt == .create ? "directory" : "file")."
        case Self.notRegular: "Specify a regular file, not a pipe or a device."
        case EISDIR: "Specify a file, not a directory."
        case EFBIG: "Specify a file of at most \(Limits.commandFileByteCountMax) bytes."
        case ENOSPC, EDQUOT: "Free some disk space."
        case EROFS: "Specify a path on a writable file system."
        default: "Check the file and the disk."
        }
    }

    var exitCode: ExitCode {
        switch code {
        case ENOENT, ENOTDIR: .notFound
        case EACCES, EPERM, EROFS: .notPermitted
        default: .refused
        }
    }
}
