// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// Single numbers that the file keeps: when the server last ran, how far sequences and settling went, and the version of
/// the policies.
final class StateTable {
    private let select: Statement
    private let upsert: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        select = try connection.prepare("SELECT value FROM state WHERE name = ?")
        upsert = try connection.prepare(
            "INSERT INTO state VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
    }

    /// When the server last wrote that it ran, UNIX milliseconds; nil in a new file and in one of version 1.
    func lastRunning() throws(SQLiteError) -> Int64? { try value("running_at_ms") }

    /// Writes that the server runs.
    func noteRunning(now: Int64) throws(SQLiteError) { try set("running_at_ms", now) }

    /// The sequence up to which numbers were given out, or may have been.
    func lastSequence() throws(SQLiteError) -> Int64 { try value("last_sequence") ?? 0 }

    /// Lets numbers be given out up to a sequence.
    func setLastSequence(_ sequence: Int64) throws(SQLiteError) { try set("last_sequence", sequence) }

    /// The sequence up to which all pending notifications are settled.
    func settledThrough() throws(SQLiteError) -> Int64 { try value("settled_through") ?? 0 }

    /// Notes that all pending notifications up to a sequence are settled.
    func setSettledThrough(_ sequence: Int64) throws(SQLiteError) { try set("settled_through", sequence) }

    /// How often policies were changed.
    func policyVersion() throws(SQLiteError) -> Int64 { try value("policy_version") ?? 0 }

    /// Notes that policies were changed.
    func setPolicyVersion(_ version: Int64) throws(SQLiteError) { try set("policy_version", version) }

    private func value(_ name: String) throws(SQLiteError) -> Int64? {
        select.bind(name, at: 1)
        defer { select.reset() }
        return try select.step() ? select.int64(0) : nil
    }

    private func set(_ name: String, _ value: Int64) throws(SQLiteError) {
        upsert.bind(name, at: 1)
        upsert.bind(value, at: 2)
        try upsert.run()
    }
}
