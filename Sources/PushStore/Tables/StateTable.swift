// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Single numbers in the file: the last running time, the reserved and archived sequences, and the versions that
/// devices learn.
final class StateTable {
    private let select: any SQLStatement
    private let upsert: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        select = try connection.prepare("SELECT value FROM state WHERE name = ?")
        upsert = try connection.prepare(
            "INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    }

    /// Returns the last time at which the server recorded that it runs; nil in a new file.
    func lastRunning() throws(SQLError) -> Timestamp? {
        try value("running_at_ms").map(Timestamp.init(unixMilliseconds:))
    }

    /// Records that the server runs now.
    func noteRunning(now: Timestamp) throws(SQLError) { try set("running_at_ms", now.unixMilliseconds) }

    /// Returns the time at which the last sweep of PostgreSQL began; nil before the first one.
    func lastSweep() throws(SQLError) -> Timestamp? { try value("swept_at_ms").map(Timestamp.init(unixMilliseconds:)) }

    /// Records that a sweep of PostgreSQL begins now.
    func noteSweep(now: Timestamp) throws(SQLError) { try set("swept_at_ms", now.unixMilliseconds) }

    /// Returns the time up to which devices may reconnect before any of them counts as unseen, in PostgreSQL.
    func reconnectionEnd() throws(SQLError) -> Timestamp {
        Timestamp(unixMilliseconds: try value("reconnection_end_ms") ?? 0)
    }

    /// Sets the time up to which devices may reconnect.
    func setReconnectionEnd(_ time: Timestamp) throws(SQLError) {
        try set("reconnection_end_ms", time.unixMilliseconds)
    }

    /// Returns the sequence up to which numbers were assigned, or may have been.
    func lastSequence() throws(SQLError) -> Int64 { try value("last_sequence") ?? 0 }

    /// Reserves numbers up to a sequence.
    func setLastSequence(_ sequence: Int64) throws(SQLError) { try set("last_sequence", sequence) }

    /// Returns the sequence up to which all pending notifications are archived.
    func archivedThrough() throws(SQLError) -> Int64 { try value("archived_through") ?? 0 }

    /// Records that all pending notifications up to a sequence are archived.
    func setArchivedThrough(_ sequence: Int64) throws(SQLError) { try set("archived_through", sequence) }

    /// Returns the version of the policies, which counts their changes.
    func policyVersion() throws(SQLError) -> Int64 { try value("policy_version") ?? 0 }

    /// Sets the version of the policies.
    func setPolicyVersion(_ version: Int64) throws(SQLError) { try set("policy_version", version) }

    /// Returns the version of the announced authorities; 0 if none were announced.
    func authorityVersion() throws(SQLError) -> Int64 { try value("authority_version") ?? 0 }

    /// Sets the version of the announced authorities.
    func setAuthorityVersion(_ version: Int64) throws(SQLError) { try set("authority_version", version) }

    private func value(_ name: String) throws(SQLError) -> Int64? {
        select.bind(name, at: 1)
        defer { select.reset() }
        return try select.step() ? select.int64(0) : nil
    }

    private func set(_ name: String, _ value: Int64) throws(SQLError) {
        upsert.bind(name, at: 1)
        upsert.bind(value, at: 2)
        try upsert.run()
    }
}
