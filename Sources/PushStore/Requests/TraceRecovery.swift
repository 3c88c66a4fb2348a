// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL
internal import PushSQLite

/// Records that notifications were accepted and stored, if a crash came before these events were written.
struct TraceRecovery {
    private let end: Int64
    private var rows: [PendingTable.Recent] = []

    /// Creates a recovery of a trace whose table ends at a position.
    init(end: Int64) { self.end = end }

    /// Takes a row whose events are behind the end of the trace.
    mutating func take(_ row: PendingTable.Recent) {
        if let position = row.tracePosition, position >= end { rows.append(row) }
    }

    /// Records the events of all rows that were taken, in a transaction.
    ///
    /// - Parameters:
    ///   - trace: The trace.
    ///   - tables: The tables.
    ///   - connection: Their connection.
    /// - Throws: The error that SQLite returned. The next start then records the events.
    func record(in trace: TraceRecorder, _ tables: StoreTables, _ connection: Connection) throws(SQLError) {
        guard trace.isOn, !rows.isEmpty else { return }
        let origins = TraceOrigins(tables.trace)
        trace.begin()
        do {
            try connection.transaction { () throws(SQLError) in
                for row in rows {
                    try record(row, in: trace, tables, origins)
                    try tables.pending.noteTraced(row.sequence)
                }
                trace.flushSoon()
                try trace.flushIfDue(into: tables.trace)
            }
        } catch {
            trace.rolledBack()
            throw error
        }
        trace.committed()
    }

    private func record(
        _ row: PendingTable.Recent, in trace: TraceRecorder, _ tables: StoreTables, _ origins: TraceOrigins
    ) throws(SQLError) {
        // A damaged row has no notification, and the sweep deletes it.
        guard let pending = try tables.pending.read(row.sequence, of: row.device)?.notification else { return }
        let acceptedAt = pending.notification.acceptedAt
        let stored = TraceEvent(.stored, sequence: row.sequence, topic: row.topic, device: row.device, at: acceptedAt)
        if try origins.find(stored) == nil {
            trace.recordAccepted(pending.notification, sequence: row.sequence, isStored: false, at: acceptedAt)
        }
        trace.recordLater(.stored, of: row.sequence, row.topic, on: row.device, at: acceptedAt)
    }
}
