// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// An SQLite failure, with the statement or file that it concerns.
package struct SQLiteError: Error, Sendable, Equatable {
    /// The extended result code.
    package var code: Int32
    /// The message of SQLite.
    package var message: String
    /// The path of the file, or the SQL text.
    package var subject: String

    package init(code: Int32, message: String, subject: String) {
        self.code = code
        self.message = message
        self.subject = subject
    }

    /// Whether the disk is full.
    package var isFull: Bool { primaryCode == SQLITE_FULL }

    /// Whether reading, writing or syncing failed.
    ///
    /// After that, nothing may be acknowledged.
    package var isInputOutput: Bool { primaryCode == SQLITE_IOERR }

    /// Whether the file is damaged, or is not a database.
    package var isCorrupt: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// Whether a value or a row is longer than the limit.
    package var isTooBig: Bool { primaryCode == SQLITE_TOOBIG }

    /// Whether another connection holds a lock on the file.
    package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// Whether a uniqueness, foreign key or type constraint was violated.
    var isConstraint: Bool { primaryCode == SQLITE_CONSTRAINT }

    /// Whether the file could not be opened or created.
    package var isCannotOpen: Bool { primaryCode == SQLITE_CANTOPEN || primaryCode == SQLITE_PERM }

    /// Whether the file or its directory is not writable.
    package var isReadOnly: Bool { primaryCode == SQLITE_READONLY }

    /// The primary result code: the low byte, as described in SQLite's "Result and Error Codes".
    private var primaryCode: Int32 { code & 0xFF }
}

extension SQLiteError: CustomStringConvertible {
    /// The message, the code and the subject, for a log line.
    package var description: String { "\(message) (SQLite code \(code)) at \(subject)" }
}
