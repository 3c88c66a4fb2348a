// SPDX-License-Identifier: Apache-2.0

/// Why a file could not be read.
package enum INIError: Error, Equatable, Sendable {
    /// The system's `errno`; `EFBIG` for a file of more than `INIFile.byteCountMax` bytes.
    case cannotRead(path: String, code: Int32)
    /// This line is neither a section, nor an entry, nor a comment, or it is not UTF-8.
    case syntax(path: String, line: Int)
    /// This line, or the name of its section, is longer than inih can hold: split a list into several entries.
    case tooLong(path: String, line: Int, byteCountMax: Int)
}
