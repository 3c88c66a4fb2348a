// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushCore

/// Events of a node of a cluster that become a row of the trace.
package struct TraceRow: Sendable {
    package var firstEventAt: Timestamp
    package var lastEventAt: Timestamp
    /// The least ID of the notifications that this node accepts in the row; 0 without any.
    package var firstID: Int64 = 0
    /// The greatest ID of these notifications; 0 without any.
    package var lastID: Int64 = 0
    /// The packed events.
    package var events: [UInt8] = []
    /// Whether an event has determined the times.
    private var isTimed = false
    /// The age in milliseconds from which the ID of an acceptance that is recorded again does not belong to a row.
    private static let spanMilliseconds: Int64 = 60_000

    /// Creates a row with one event.
    private init(_ event: TraceEvent, newest: Timestamp) {
        (firstEventAt, lastEventAt) = (event.at, event.at)
        append(event, newest: newest)
    }

    private mutating func append(_ event: TraceEvent, newest: Timestamp) {
        event.append(to: &events)
        // An acceptance of long ago is found in the row of the node that accepted, if at all.
        let isOld = event.at < newest.advanced(byMilliseconds: -Self.spanMilliseconds)
        guard event.detail != .recordedAgain || !isOld else { return }
        if event.detail != .recordedAgain {
            firstEventAt = isTimed ? min(firstEventAt, event.at) : event.at
            lastEventAt = isTimed ? max(lastEventAt, event.at) : event.at
            isTimed = true
        }
        guard event.origin != nil else { return }
        firstID = firstID == 0 ? event.sequence : min(firstID, event.sequence)
        lastID = max(lastID, event.sequence)
    }

    /// Packs events in order of their times.
    package static func pack(_ events: [TraceEvent]) -> [TraceRow] {
        // Sorting by the place too keeps the order of events at the same time.
        let order = events.indices.sorted { (events[$0].at, $0) < (events[$1].at, $1) }
        let newest = order.last.map { events[$0].at } ?? .unixEpoch
        var rows: [TraceRow] = []
        for place in order {
            if let last = rows.last, last.events.count < WriterLimits.traceRowByteCount {
                rows[rows.count - 1].append(events[place], newest: newest)
            } else {
                rows.append(TraceRow(events[place], newest: newest))
            }
        }
        return rows
    }
}

/// Gathers the events of a node of a cluster until a worker writes them.
///
/// Only the thread of the node's store uses it.
package final class NodeTrace {
    private var events: [TraceEvent] = []
    private var byteCount = 0

    package init() {}

    package var isEmpty: Bool { events.isEmpty }

    /// Whether the events must be written now because of their size.
    package var isFull: Bool { byteCount >= WriterLimits.traceFlushByteCount }

    /// Removes and returns the events.
    package func take() -> [TraceEvent] {
        defer { (events, byteCount) = ([], 0) }
        return events
    }

    // MARK: Recording

    /// Records that a notification was accepted, the first event of every notification.
    ///
    /// - Parameters:
    ///   - pending: The notification.
    ///   - isAgain: Whether another node, which no longer runs, may have recorded it.
    ///   - time: The time of the acceptance.
    package func recordAccepted(_ pending: PendingNotification, isAgain: Bool, at time: Timestamp) {
        add(
            TraceEvent(
                accepting: pending.notification, isAgain ? .recordedAgain : .none, sequence: pending.sequence, at: time)
        )
    }

    /// Records another event of a notification.
    package func record(
        _ step: TraceStep, _ detail: TraceDetail = .none, of id: Int64, _ topic: TopicID, on device: DeviceID,
        at time: Timestamp
    ) {
        add(TraceEvent(step, detail, sequence: id, topic: topic, device: device, at: time))
    }

    /// Records another event of a notification for a device.
    package func record(
        _ step: TraceStep, _ detail: TraceDetail = .none, of pending: PendingNotification, at time: Timestamp
    ) {
        let address = pending.notification.address
        record(step, detail, of: pending.sequence, address.topic, on: address.device, at: time)
    }

    /// Records an outcome that a device reports for the first time.
    package func record(
        _ acknowledgement: DeviceAPI.Acknowledgement, _ topic: TopicID, by device: DeviceID, at time: Timestamp
    ) {
        if let event = TraceEvent(acknowledgement, topic: topic, device: device, at: time) { add(event) }
    }

    private func add(_ event: TraceEvent) {
        // The buffer reaches this size only while PostgreSQL does not answer for a long time; then the trace has a gap.
        guard byteCount < WriterLimits.traceBufferByteCountMax else { return }
        events.append(event)
        byteCount += event.packedByteCount
    }
}
