// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// Enrolment codes, as hashes; each is good once.
final class EnrolmentCodeTable {
    private let insert: Statement
    private let select: Statement
    private let use: Statement
    private let deleteOld: Statement
    private let connection: Connection

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        insert = try connection.prepare("INSERT INTO enrolment_codes(hash, expires_at) VALUES (?, ?)")
        select = try connection.prepare("SELECT 1 FROM enrolment_codes WHERE hash = ?")
        use = try connection.prepare(
            "UPDATE enrolment_codes SET used_at_ms = ? WHERE hash = ? AND used_at_ms IS NULL AND expires_at >= ?")
        deleteOld = try connection.prepare("DELETE FROM enrolment_codes WHERE expires_at < ?")
    }

    /// Whether the code is known, used or not.
    func contains(_ hash: [UInt8]) throws(SQLiteError) -> Bool {
        select.bind(hash, at: 1)
        defer { select.reset() }
        return try select.step()
    }

    /// Adds a code that is new.
    func add(_ hash: [UInt8], expiresUnixSeconds: Int64) throws(SQLiteError) {
        insert.bind(hash, at: 1)
        insert.bind(expiresUnixSeconds, at: 2)
        try insert.run()
    }

    /// Uses a code up; false when it is unknown, used or too old.
    func use(_ hash: [UInt8], now: Int64) throws(SQLiteError) -> Bool {
        use.bind(now, at: 1)
        use.bind(hash, at: 2)
        use.bind(now.unixSeconds, at: 3)
        try use.run()
        return connection.changedRowCount > 0
    }

    /// Forgets codes that are too old, used or not.
    func deleteExpired(now: Int64) throws(SQLiteError) {
        deleteOld.bind(now.unixSeconds, at: 1)
        try deleteOld.run()
    }
}

extension Int64 {
    /// UNIX seconds of UNIX milliseconds, rounded down.
    var unixSeconds: Int64 { self >= 0 ? self / 1000 : (self + 1) / 1000 - 1 }
}
