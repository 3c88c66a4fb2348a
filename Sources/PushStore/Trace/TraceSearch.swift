// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Searches the trace from its start to its end, in steps between which the writer does other work.
///
/// Only the event that accepted a notification identifies it; its other events follow anywhere. A search for a
/// notification therefore remembers the sequences that it found. Other searches find the first event by the last
/// sequence of a row.
///
/// In a trace of several nodes, events may come up to some seconds before the first event of their notification. A
/// search for a notification then reads the trace twice: for the first events, and from shortly before them.
final class TraceSearch {
    let query: TraceQuery
    let answer: ReplyAddress
    private(set) var findings: TraceFindings
    /// The app of the search; nil for other searches.
    private let topic: TopicID?
    /// The time from which a webhook waits for the first event of a notification; nil if one node writes the trace.
    private let waitsSince: Timestamp?
    /// The first events of the notifications with the ID, by sequence.
    private var wanted: [Int64: TraceEvent] = [:]
    /// The positions and times of the rows that may contain events of the first notification that was found.
    private var earlierRows = FIFOQueue<(position: Int64, lastEventAt: Timestamp)>()
    /// Whether only first events are searched, before another reading.
    private var seeksOrigins: Bool
    private var hasBegun = false
    /// Whether a step ended in the middle of a row.
    private var isPaused = false
    /// Whether the search ends before an event whose notification is not known yet.
    private var isWaiting = false

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - topic: The app of the query; nil for other subjects.
    ///   - answer: The address of the answer.
    ///   - waitsSince: The time from which a webhook waits for the first event of a notification. Nil if one node writes
    ///     the trace.
    init(_ query: TraceQuery, topic: TopicID?, answer: ReplyAddress, waitsSince: Timestamp? = nil) {
        self.query = query
        self.topic = topic
        self.answer = answer
        self.waitsSince = waitsSince
        let isFromStart = if case .notification = query.subject { true } else { false }
        seeksOrigins = isFromStart && waitsSince != nil
        findings = TraceFindings(next: isFromStart ? 0 : max(query.after, 0))
    }

    /// Searches the next rows.
    ///
    /// - Parameters:
    ///   - byteCountMax: The approximate number of bytes to read.
    ///   - table: The trace.
    ///   - origins: Finds the first event of a notification.
    /// - Returns: Whether more rows are left; if not, `findings` is the answer.
    /// - Throws: The error that the engine returned.
    func step(
        byteCountMax: Int, _ table: any TraceSource, _ origins: TraceOrigins
    ) throws(SQLError) -> Bool {
        if !hasBegun { findings.oldestAt = try table.oldestAt() }
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
            if seeksOrigins, wanted.isEmpty { noteEarlier(row) }
            try look(at: row, origins)
            if findings.isMore || isPaused || isWaiting { return isPaused && !isWaiting }
        }
        if isEnd, seeksOrigins, let first = earlierRows.first, !wanted.isEmpty {
            seeksOrigins = false
            findings.next = first.position
            return true
        }
        if isEnd { end() }
        return !isEnd
    }

    private func end() {
        if query.isNewest { findings.keepNewest(query.countMax) }
        guard waitsSince != nil, !query.isForWebhook else { return }
        findings.entries.sort { ($0.event.at, $0.position) < ($1.event.at, $1.position) }
    }

    /// Remembers a row that may contain events of a notification whose first event comes later.
    private func noteEarlier(_ row: TraceTable.Row) {
        let oldest = row.lastEventAt.advanced(byMilliseconds: -PostgresLimits.traceOriginMilliseconds)
        while let first = earlierRows.first, first.lastEventAt < oldest { _ = earlierRows.popFirst() }
        earlierRows.append((row.position, row.lastEventAt))
    }

    private func look(at row: TraceTable.Row, _ origins: TraceOrigins) throws(SQLError) {
        defer { if !findings.isMore, !isPaused, !isWaiting { findings.next = max(findings.next, row.end) } }
        guard row.lastEventAt >= query.since || !isByTime else { return }
        let bytes = row.events.span
        var offset = Int(clamping: max(findings.next - row.position, 0))
        while true {
            let position = row.position + Int64(offset)
            guard origins.readCount < WriterLimits.traceOriginsReadPerStepCountMax else {
                findings.next = position
                isPaused = true
                return
            }
            // A row that the disk damaged ends at the first invalid event.
            guard let event = TraceEvent(bytes, at: &offset) else { return }
            let found = try entry(event, at: position, origins)
            guard !isWaiting else {
                findings.next = position
                return
            }
            guard let entry = found else { continue }
            if query.isNewest {
                if findings.entries.count >= 2 * query.countMax { findings.keepNewest(query.countMax) }
            } else if findings.entries.count >= query.countMax {
                findings.isMore = true
                findings.next = position
                return end()
            }
            findings.entries.append(entry)
        }
    }

    private var isByTime: Bool { if case .notification = query.subject { false } else { true } }

    /// Returns the entry of an event; nil if the event does not match the query.
    private func entry(
        _ event: TraceEvent, at position: Int64, _ origins: TraceOrigins
    ) throws(SQLError) -> TraceEntry? {
        switch query.subject {
        case .notification(let id): return ofNotification(event, id, at: position)
        case .device(let device):
            guard event.device == device, event.at >= query.since else { return nil }
        case .app:
            // Each webhook has its own search, so events of other apps must not cost a lookup.
            guard event.topic == topic else { return nil }
            if event.origin != nil { origins.remember(event) }
            guard event.at >= query.since,
                event.step.isForWebhooks || !query.isForWebhook
            else { return nil }
        }
        let accepted = try origins.find(event)
        // Another node has recorded the acceptance.
        if event.detail == .recordedAgain, accepted != event { return nil }
        if accepted == nil, query.isForWebhook, let waitsSince, event.at > waitsSince {
            isWaiting = true
            return nil
        }
        // The app of an event whose first event was deleted is known, but the notification is not.
        guard topic == nil || accepted != nil else { return nil }
        // The writer records only events of a device's own notifications, so another event is damaged.
        if let accepted, !accepted.device.includes(event.device) { return nil }
        return TraceEntry(position: position, event: event, origin: accepted?.origin)
    }

    private func ofNotification(_ event: TraceEvent, _ id: UniqueID, at position: Int64) -> TraceEntry? {
        if let origin = event.origin {
            guard origin.uniqueID == id || origin.apnsID == id else { return nil }
            guard seeksOrigins || waitsSince == nil else {
                // The first reading has found it.
                guard wanted[event.sequence] == event else { return nil }
                return TraceEntry(position: position, event: event, origin: origin)
            }
            let isKnown = wanted[event.sequence] != nil
            guard !isKnown || event.detail != .recordedAgain else { return nil }
            // A back-end may reuse an apns-id many times; only the first notifications are returned.
            guard isKnown || wanted.count < WriterLimits.traceNotificationCountMax else { return nil }
            wanted[event.sequence] = event
            return seeksOrigins ? nil : TraceEntry(position: position, event: event, origin: origin)
        }
        guard let accepted = wanted[event.sequence], !seeksOrigins, accepted.device.includes(event.device) else {
            return nil
        }
        return TraceEntry(position: position, event: event, origin: accepted.origin)
    }

    /// Adds the device token to each entry.
    func addTokens(_ token: (TraceEntry) throws(SQLError) -> TraceEntry.Token?) throws(SQLError) {
        for index in findings.entries.indices { findings.entries[index].token = try token(findings.entries[index]) }
    }
}

extension TraceFindings {
    /// Discards the oldest entries.
    fileprivate mutating func keepNewest(_ countMax: Int) {
        guard entries.count > countMax else { return }
        entries.removeFirst(entries.count - countMax)
        hasEarlier = true
    }
}

extension DeviceID {
    /// Returns whether an event of a device belongs to a notification for this device; a broadcast is for all devices.
    fileprivate func includes(_ device: DeviceID) -> Bool { self == .none || self == device }
}

/// Finds the first event of a notification; caches a bounded number of them.
final class TraceOrigins {
    private let table: any TraceSource
    private var known: [Int64: TraceEvent] = [:]
    /// The number of rows that were read; a search uses it to bound a step.
    var readCount = 0

    init(_ table: any TraceSource) { self.table = table }

    /// Caches the first event of a notification; one that was recorded again only if there is no other.
    func remember(_ accepted: TraceEvent) {
        guard accepted.detail != .recordedAgain || known[accepted.sequence] == nil else { return }
        if known.count >= WriterLimits.traceOriginCountMax { known.removeAll(keepingCapacity: true) }
        known[accepted.sequence] = accepted
    }

    /// Returns the first event of an event's notification; nil if it is no longer in the trace.
    func find(_ event: TraceEvent) throws(SQLError) -> TraceEvent? {
        if event.origin != nil, event.detail != .recordedAgain { return event }
        if let accepted = known[event.sequence], accepted.detail != .recordedAgain || event.origin == nil {
            return accepted
        }
        try table.forEachRow(acceptedWith: event.sequence) { bytes in
            readCount += 1
            let span = bytes.span
            var offset = 0
            // Cache the other first events of the row, because they are likely to be needed too.
            while let other = TraceEvent(span, at: &offset) { if other.origin != nil { remember(other) } }
            return known[event.sequence].map { $0.detail == .recordedAgain } ?? true
        }
        // No other event shows that the notification was accepted.
        if event.origin != nil { remember(event) }
        return known[event.sequence]
    }
}
