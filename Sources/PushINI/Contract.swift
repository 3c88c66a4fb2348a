// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.

/// One `name = value` of an INI file, as systemd writes them.
package struct INIEntry: Sendable, Equatable {
    package var section: String
    package var name: String
    package var value: String
    /// From 1.
    package var line: Int
}

/// Why a file could not be read.
package enum INIError: Error, Sendable {
    /// errno
    case cannotRead(path: String, code: Int32)
    /// inih's parse error at this line.
    case syntax(path: String, line: Int)
}

/// Reads INI files through inih.
package enum INIFile {
    /// Entries in the order of the file; a name may come more than once (lists). `#` and `;` begin comments.
    package static func read(path: String) throws(INIError) -> [INIEntry] { preconditionFailure("unwritten") }
}
