// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushSQL

/// The streams of all nodes as the one stream of a store in SQLite, and the positions of webhooks in it.
///
/// A webhook has a position in the stream of each node. In the new stream it begins at the first event that it has not
/// received from any of them. If there were several nodes, it may receive events twice.
struct MovedTrace {
    /// The next event that a webhook receives from a node.
    struct Reader {
        var topic: Int64
        var node: Int64
        var position: Int64
    }

    /// The end of the new stream.
    private(set) var end: Int64 = 0
    private var lastSequence: Int64 = 0
    /// The readers of each node whose events have not come, the first one last.
    private var readers: [Int64: [Reader]] = [:]
    private var positions: [Int64: Int64] = [:]

    init(_ readers: [Reader]) {
        self.readers = Dictionary(grouping: readers, by: \.node).mapValues { $0.sorted { $0.position > $1.position } }
    }

    /// Returns the position of a webhook in the new stream, after all rows were appended.
    func position(of topic: Int64) -> Int64 { positions[topic] ?? end }

    /// Appends a row of `MovedTable.traceToSQLite`; returns the new row, or nil for one without events.
    mutating func append(_ row: [SQLValue]) -> [SQLValue]? {
        guard row.count == 5, let node = row[0].number, let position = row[1].number, let events = row[4].bytes,
            !events.isEmpty
        else { return nil }
        while let reader = readers[node]?.last, reader.position < position + Int64(events.count) {
            readers[node]?.removeLast()
            let place = end + max(reader.position - position, 0)
            positions[reader.topic] = min(positions[reader.topic] ?? place, place)
        }
        Self.forEachEvent(in: events) { event in
            if event.step == .accepted { lastSequence = max(lastSequence, event.sequence) }
        }
        defer { end += Int64(events.count) }
        return [.number(end), row[2], row[3], .number(lastSequence), row[4]]
    }

    /// Returns a row of `MovedTable.traceToPostgres` with the least and the greatest ID of its events.
    static func withIDs(_ row: [SQLValue]) -> [SQLValue] {
        var row = row
        var ids: [Int64] = []
        forEachEvent(in: row[6].bytes ?? []) { ids.append($0.sequence) }
        if let least = ids.min(), let greatest = ids.max() { (row[4], row[5]) = (.number(least), .number(greatest)) }
        return row
    }

    private static func forEachEvent(in events: [UInt8], _ take: (TraceEvent) -> Void) {
        var offset = 0
        while let event = TraceEvent(events.span, at: &offset) { take(event) }
    }
}
