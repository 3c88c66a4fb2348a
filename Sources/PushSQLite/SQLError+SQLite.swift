// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import PushSQL

extension SQLError {
    /// Creates an error from an extended result code of SQLite.
    ///
    /// - Parameters:
    ///   - code: The code; its low byte decides the kind, as described in SQLite's "Result and Error Codes".
    ///   - message: The message of SQLite.
    ///   - subject: The path of the file, or the SQL text.
    init(code: Int32, message: String, subject: String) {
        let kind: Kind =
            switch code & 0xFF {
            case SQLITE_FULL: .full
            case SQLITE_IOERR: .inputOutput
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            case SQLITE_TOOBIG: .tooBig
            case SQLITE_BUSY, SQLITE_LOCKED: .busy
            case SQLITE_CONSTRAINT: .constraint
            case SQLITE_CANTOPEN, SQLITE_PERM: .cannotOpen
            case SQLITE_READONLY: .readOnly
            default: .refused
            }
        self.init(kind: kind, code: "\(code)", message: message, subject: subject)
    }
}
