// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The reasons why a file could not be read.
package enum INIError: Error, Equatable, Sendable {
    /// The system's `errno`; `EFBIG` for a file of more than `INIFile.byteCountMax` bytes, `EINVAL` for a pipe or
    /// device, which could block or have no end.
    case cannotRead(path: String, code: Int32)
    /// The line is not a section, entry or comment, or is not valid UTF-8.
    case syntax(path: String, line: Int)
    /// The line, its section or its name is too long: split a list into several entries.
    case tooLong(path: String, line: Int, byteCountMax: Int)
}

extension INIError: CustomStringConvertible {
    /// The error with its location, for the author of the file.
    package var description: String {
        switch self {
        case .cannotRead(let path, let code):
            unsafe "\(path): \(String(cString: strerror(code)))"
        case .syntax(let path, let line):
            "\(path), line \(line): neither a [section], nor name = value, nor a comment, or not UTF-8"
        case .tooLong(let path, let line, let byteCountMax):
            "\(path), line \(line): longer than \(byteCountMax) bytes; split a list into several entries of one name"
        }
    }
}
