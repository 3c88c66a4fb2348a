// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// What the system said about a file.
package struct FileError: Error, Equatable, Sendable {
    /// What was tried.
    package enum Attempt: Equatable, Sendable {
        case read, create, write
    }

    /// The code of a file that is not there.
    static let notThere = ENOENT
    /// The code of a pipe, a device or a socket where a file must be.
    static let notRegular = ESPIPE

    /// What was tried.
    package let attempt: Attempt
    /// With which file.
    package let path: String
    /// The system's error number.
    package let code: Int32

    init(_ attempt: Attempt, path: String, code: Int32) {
        self.attempt = attempt
        self.path = path
        self.code = code
    }

    /// One line that says what is wrong.
    package var problem: String {
        let text = code == Self.notRegular ? "it is no regular file" : unsafe String(cString: strerror(code))
        return switch attempt {
        case .read: "\(path) cannot be read: \(text)"
        case .create: "\(path) cannot be made: \(text)"
        case .write: "\(path) cannot be written: \(text)"
        }
    }

    /// One line that says what to do.
    package var remedy: String {
        switch code {
        case EEXIST: "Choose another name; a file that is there is never replaced."
        case ENOENT, ENOTDIR: attempt == .read ? "Check the name." : "Make the directory first."
        case EACCES, EPERM: "Use a file that you may \(attempt == .read ? "read" : "write")."
        case Self.notRegular: "Name a regular file, not a pipe or a device."
        case EISDIR: "Name a file, not a directory."
        case EFBIG: "Name a file of at most \(LocalFile.byteCountMax) bytes."
        case ENOSPC, EDQUOT: "Make room on the disk."
        case EROFS: "Choose a place that can be written."
        default: "Check the file and its disk."
        }
    }

    /// What the program ends with.
    package var exitCode: ExitCode {
        switch code {
        case ENOENT, ENOTDIR: .notFound
        case EACCES, EPERM, EROFS: .notPermitted
        default: .refused
        }
    }
}
