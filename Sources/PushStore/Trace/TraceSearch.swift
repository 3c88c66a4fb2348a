// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Looks through the trace from its beginning to its end, in steps, between which the writer does its work.
///
/// A notification's events lie anywhere behind the one that accepted it, which alone says what it is. So a search for a
/// notification remembers the sequences that it found; the others find the beginning by the row's last sequence.
final class TraceSearch {
    let query: TraceQuery
    let answer: ReplyAddress
    private(set) var findings: TraceFindings
    /// The app that is looked for; nil unless one is.
    private let topic: TopicID?
    /// The beginnings of the notifications that have the id, by sequence.
    private var wanted: [Int64: TraceEvent] = [:]
    private var hasBegun = false
    /// Whether a step ended amid a row.
    private var isPaused = false

    init(_ query: TraceQuery, topic: TopicID?, answer: ReplyAddress) {
        self.query = query
        self.topic = topic
        self.answer = answer
        let isFromStart = if case .notification = query.subject { true } else { false }
        findings = TraceFindings(next: isFromStart ? 0 : max(query.after, 0))
    }

    /// Looks at the next rows.
    ///
    /// - Parameters:
    ///   - byteCountMax: About how much is read.
    ///   - table: The trace.
    ///   - origins: The notifications of events.
    /// - Returns: Whether there is more to look at; when not, `findings` is the answer.
    /// - Throws: What SQLite answered.
    func step(byteCountMax: Int, _ table: TraceTable, _ origins: TraceOrigins) throws(SQLiteError) -> Bool {
        if !hasBegun { findings.oldestUnixMilliseconds = try table.oldestUnixMilliseconds() }
        var (rows, byteCount, isEnd) = ([TraceTable.Row](), 0, true)
        try table.forEachRow(from: findings.next) { row in
            guard byteCount < byteCountMax else {
                isEnd = false
                return false
            }
            byteCount += row.events.count
            rows.append(row)
            return true
        }
        if !hasBegun, let first = rows.first, findings.next > 0 { findings.hasGap = first.position > findings.next }
        hasBegun = true
        isPaused = false
        origins.readCount = 0
        for row in rows {
            try look(at: row, origins)
            if findings.isMore || isPaused { return isPaused }
        }
        return !isEnd
    }

    private func look(at row: TraceTable.Row, _ origins: TraceOrigins) throws(SQLiteError) {
        defer { if !findings.isMore, !isPaused { findings.next = max(findings.next, row.end) } }
        guard row.lastUnixMilliseconds >= query.sinceUnixMilliseconds || !isByTime else { return }
        let bytes = row.events.span
        var offset = Int(clamping: max(findings.next - row.position, 0))
        while true {
            let position = row.position + Int64(offset)
            guard origins.readCount < WriterLimits.traceOriginsReadPerStepCountMax else {
                findings.next = position
                isPaused = true
                return
            }
            // A row that a disk changed ends where it makes no sense.
            guard let event = TraceEvent(bytes, at: &offset) else { return }
            guard let entry = try entry(event, at: position, origins) else { continue }
            guard findings.entries.count < query.countMax else {
                findings.isMore = true
                findings.next = position
                return
            }
            findings.entries.append(entry)
        }
    }

    private var isByTime: Bool { if case .notification = query.subject { false } else { true } }

    /// What is told of an event; nil when it is none of the query's.
    private func entry(
        _ event: TraceEvent, at position: Int64, _ origins: TraceOrigins
    ) throws(SQLiteError) -> TraceEntry? {
        switch query.subject {
        case .notification(let id): return ofNotification(event, id, at: position)
        case .device(let device):
            guard event.device == device, event.unixMilliseconds >= query.sinceUnixMilliseconds else { return nil }
        case .app:
            if event.origin != nil { origins.remember(event) }
            guard event.unixMilliseconds >= query.sinceUnixMilliseconds,
                event.step.isForWebhooks || !query.isForWebhook
            else { return nil }
        }
        let accepted = try origins.find(event)
        guard topic == nil || accepted?.origin?.topic == topic else { return nil }
        // A device may acknowledge any number; what is not its own is not told.
        if let accepted, !accepted.device.includes(event.device) { return nil }
        return TraceEntry(position: position, event: event, origin: accepted?.origin)
    }

    private func ofNotification(_ event: TraceEvent, _ id: UniqueID, at position: Int64) -> TraceEntry? {
        if let origin = event.origin {
            guard origin.uniqueID == id || origin.apnsID == id else { return nil }
            // A back-end may use an apns-id again and again; the first ones are told.
            guard wanted.count < WriterLimits.traceNotificationCountMax else { return nil }
            wanted[event.sequence] = event
            return TraceEntry(position: position, event: event, origin: origin)
        }
        guard let accepted = wanted[event.sequence], accepted.device.includes(event.device) else { return nil }
        return TraceEntry(position: position, event: event, origin: accepted.origin)
    }

    /// Gives each entry its device token.
    func addTokens(_ token: (TraceEntry) throws(SQLiteError) -> TraceEntry.Token?) throws(SQLiteError) {
        for index in findings.entries.indices { findings.entries[index].token = try token(findings.entries[index]) }
    }
}

extension DeviceID {
    /// Whether an event of a device belongs to a notification for this one; a broadcast is for all.
    fileprivate func includes(_ device: DeviceID) -> Bool { self == .none || self == device }
}

/// Finds the event with which a notification's trace began; remembers a bounded number of them.
final class TraceOrigins {
    private let table: TraceTable
    private var known: [Int64: TraceEvent] = [:]
    /// Rows that were read; whoever looks for many counts them.
    var readCount = 0

    init(_ table: TraceTable) { self.table = table }

    /// Keeps the beginning of a trace in mind.
    func remember(_ accepted: TraceEvent) {
        if known.count >= WriterLimits.traceOriginCountMax { known.removeAll(keepingCapacity: true) }
        known[accepted.sequence] = accepted
    }

    /// The beginning of an event's trace; nil when it is not kept any more.
    func find(_ event: TraceEvent) throws(SQLiteError) -> TraceEvent? {
        if event.origin != nil { return event }
        if let accepted = known[event.sequence] { return accepted }
        readCount += 1
        guard let bytes = try table.events(acceptedWith: event.sequence) else { return nil }
        let span = bytes.span
        var offset = 0
        // Its neighbours are likely to be asked for, too.
        while let other = TraceEvent(span, at: &offset) { if other.origin != nil { remember(other) } }
        return known[event.sequence]
    }
}
