// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why a file could not be read.
package enum INIError: Error, Equatable, Sendable {
    /// The system's `errno`; `EFBIG` for a file of more than `INIFile.byteCountMax` bytes, `EINVAL` for a pipe or
    /// a device, which one could wait for or read for ever.
    case cannotRead(path: String, code: Int32)
    /// This line is neither a section, nor an entry, nor a comment, or it is not UTF-8.
    case syntax(path: String, line: Int)
    /// This line, or the name of its section, is longer than inih can hold: split a list into several entries.
    case tooLong(path: String, line: Int, byteCountMax: Int)
}

extension INIError: CustomStringConvertible {
    /// What is wrong and where, for the person who wrote the file.
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
