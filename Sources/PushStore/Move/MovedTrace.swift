// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushSQL

/// The rows of the trace, which keep their positions, with the IDs that each engine has besides the events.
struct MovedTrace {
    private var lastSequence: Int64 = 0

    /// Returns a row of `MovedTable.traceToSQLite` with the last sequence that was accepted up to its end.
    mutating func toSQLite(_ row: [SQLValue]) -> [SQLValue] {
        if let last = Self.accepted(in: row[4].bytes ?? []).max() { lastSequence = max(lastSequence, last) }
        var row = row
        row[3] = .number(lastSequence)
        return row
    }

    /// Returns a row of `MovedTable.traceToPostgres` with the IDs of the notifications that are accepted in it.
    static func withIDs(_ row: [SQLValue]) -> [SQLValue] {
        var row = row
        let ids = accepted(in: row[6].bytes ?? [])
        (row[4], row[5]) = (.number(ids.min() ?? 0), .number(ids.max() ?? 0))
        return row
    }

    private static func accepted(in events: [UInt8]) -> [Int64] {
        var (ids, offset) = ([Int64](), 0)
        while let event = TraceEvent(events.span, at: &offset) {
            if event.origin != nil, event.detail != .recordedAgain { ids.append(event.sequence) }
        }
        return ids
    }
}
