// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// What SQLite answered, with the statement or file that it was about.
package struct SQLiteError: Error, Sendable, Equatable {
    /// The extended result code.
    package var code: Int32
    /// SQLite's text.
    package var message: String
    /// The file, or the SQL.
    package var subject: String

    /// Joins the parts.
    package init(code: Int32, message: String, subject: String) {
        self.code = code
        self.message = message
        self.subject = subject
    }

    /// The disk is full.
    package var isFull: Bool { primaryCode == SQLITE_FULL }

    /// Reading, writing or syncing failed: after this nothing may be acknowledged.
    package var isInputOutput: Bool { primaryCode == SQLITE_IOERR }

    /// The file is damaged, or is no database at all.
    package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// A value or a row is longer than SQLite takes.
    package var isTooBig: Bool { primaryCode == SQLITE_TOOBIG }

    /// Another connection holds the file.
    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// A uniqueness, foreign key or type rule was broken.
    package var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

    /// The file could not be opened or made.
    package var isCannotOpen: Bool { primaryCode == SQLITE_CANTOPEN || primaryCode == SQLITE_PERM }

    /// The file, or the directory that it lies in, may not be written.
    package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }

    /// The code without what extends it: the low byte, as SQLite's "Result and Error Codes" says.
    private var primaryCode: Int32 { code & 0xFF }
}

extension SQLiteError: CustomStringConvertible {
    /// The text, the code and what it was about, for a log line.
    package var description: String { "\(message) (SQLite code \(code)) at \(subject)" }
}
