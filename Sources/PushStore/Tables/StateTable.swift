// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// When the server last ran, as far as the file knows.
final class StateTable {
    private let select: Statement
    private let upsert: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        select = try connection.prepare("SELECT value FROM state WHERE name = 'running_at_ms'")
        upsert = try connection.prepare(
            "INSERT INTO state VALUES ('running_at_ms', ?) ON CONFLICT DO UPDATE SET value = excluded.value")
    }

    /// When the server last wrote that it ran, UNIX milliseconds; nil in a new file and in one of version 1.
    func lastRunning() throws(SQLiteError) -> Int64? {
        defer { select.reset() }
        return try select.step() ? select.int64(0) : nil
    }

    /// Writes that the server runs.
    func noteRunning(now: Int64) throws(SQLiteError) {
        upsert.bind(now, at: 1)
        try upsert.run()
    }
}
