// SPDX-License-Identifier: Apache-2.0

/// A failure of a database engine, with the statement or the file that it concerns.
package struct SQLError: Error, Sendable, Equatable {
    /// The kind of a failure, by the action that it requires.
    package enum Kind: Sendable {
        /// The disk is full.
        case full
        /// Reading, writing or syncing failed.
        ///
        /// After that, nothing may be acknowledged.
        case inputOutput
        /// The file is damaged, or is not a database.
        case damaged
        /// A value or a row is longer than the limit.
        case tooBig
        /// Another connection holds a lock.
        case busy
        /// A uniqueness, foreign key or type constraint was violated.
        case constraint
        /// The file could not be opened or created, or the server could not be reached.
        case cannotOpen
        /// The file, its directory or the server is not writable.
        case readOnly
        /// A concurrent transaction prevented this one, which may be tried again.
        case conflict
        /// The connection to the server was lost; it is unknown whether a commit that was sent took place.
        case disconnected
        /// The engine refused the statement for another reason.
        case refused
    }

    /// The action that the failure requires.
    package var kind: Kind
    /// The code of the engine: the extended result code of SQLite, or the SQLSTATE of PostgreSQL.
    package var code: String
    /// The message of the engine.
    package var message: String
    /// The path of the file, or the SQL text.
    package var subject: String

    package init(kind: Kind, code: String, message: String, subject: String) {
        self.kind = kind
        self.code = code
        self.message = message
        self.subject = subject
    }
}

extension SQLError: CustomStringConvertible {
    /// The message, the code and the subject, for a log line.
    package var description: String { "\(message) (code \(code)) at \(subject)" }
}
