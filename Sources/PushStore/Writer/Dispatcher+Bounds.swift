// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// The bounds on notifications that wait for a device.
///
/// A notification in flight was sent on the open stream and is not acknowledged. The device has it or will have it
/// soon, so it does not count as waiting. The bounds drop only notifications that were not delivered on this stream. A
/// queue may therefore exceed a bound by up to `Limits.unacknowledgedCountMax`.
///
/// The bound of a topic applies only while the device is away: what arrives between two connections of a device is
/// delivered soon, and only the bound of the device limits it.
extension Dispatcher {
    /// Returns whether as many notifications wait as a bound allows, of one topic or of all.
    func isFull(_ queue: DeviceQueue, of topic: TopicID?, _ countMax: Int) -> Bool {
        let count = topic.map(queue.pendingCount(of:)) ?? queue.pendingCount
        guard count >= countMax else { return false }
        return count - (queue.stream?.inFlightCount(of: topic) ?? 0) >= countMax
    }

    /// Returns whether a device has had no stream for a while.
    func isAway(_ queue: DeviceQueue) -> Bool {
        guard queue.stream == nil else { return false }
        guard let left = queue.leftAt, left <= now else { return true }
        return now.milliseconds(since: left) >= configuration.awayMilliseconds
    }

    /// Removes a notification of the team with the most waiting on a device, from its topic with the most waiting.
    ///
    /// Expired notifications of any team are removed first. Among equal counts, the team or topic of the new
    /// notification loses one.
    ///
    /// - Parameters:
    ///   - topic: The topic of the new notification.
    ///   - queue: The device's queue.
    ///   - replaced: The list to which the removed notification is added.
    /// - Throws: The error that SQLite returned.
    func makeRoomOnDevice(
        for topic: TopicID, _ queue: DeviceQueue, _ replaced: inout [PendingWrite.Replaced]
    ) throws(SQLError) {
        if try removeExpired(of: nil, queue, &replaced) { return }
        guard let victim = fullestTopic(queue, for: topic) else { return }
        try removeOldest(of: victim, queue, .deviceBound, &replaced)
    }

    /// Removes an expired notification of a topic, or else the oldest one.
    func removeOldest(
        of topic: TopicID, _ queue: DeviceQueue, _ detail: TraceDetail, _ replaced: inout [PendingWrite.Replaced]
    ) throws(SQLError) {
        // Expired notifications that the sweep has not deleted are removed first.
        if try removeExpired(of: topic, queue, &replaced) { return }
        let stream = queue.stream
        if queue.archivedCount(of: topic) > 0, let row = try oldestArchived(of: topic, queue, stream) {
            let entry = QueueEntry(sequence: row.sequence, topic: row.topic, collapse: CollapseHash())
            return pushArchived(entry, queue, .dropped, detail, &replaced)
        }
        let oldest = queue.recent.all.first { $0.topic == topic && stream?.isInFlight($0.sequence) != true }
        if let oldest { push(oldest, queue, .dropped, detail, &replaced) }
    }

    /// Returns the topic that loses a notification at the device's bound.
    private func fullestTopic(_ queue: DeviceQueue, for sender: TopicID) -> TopicID? {
        var waiting = queue.pendingCounts
        for topic in queue.stream.map({ Array($0.inFlightTopics) }) ?? [] { waiting[topic, default: 0] -= 1 }
        var byTeam: [Int: Int] = [:]
        for (topic, count) in waiting { byTeam[histories.team(of: topic), default: 0] += count }
        let senderTeam = histories.team(of: sender)
        let team = byTeam.max { ($0.value, $0.key == senderTeam ? 1 : 0) < ($1.value, $1.key == senderTeam ? 1 : 0) }
        // Sort the topics, so that the choice between equal counts is deterministic.
        return waiting.filter { histories.team(of: $0.key) == team?.key && $0.value > 0 }
            .sorted { $0.key.rawValue < $1.key.rawValue }
            .max { ($0.value, $0.key == sender ? 1 : 0) < ($1.value, $1.key == sender ? 1 : 0) }?.key
    }

    private func removeExpired(
        of topic: TopicID?, _ queue: DeviceQueue, _ replaced: inout [PendingWrite.Replaced]
    ) throws(SQLError) -> Bool {
        let stream = queue.stream
        if let expired = try expiredArchived(of: topic, queue, stream) {
            pushArchived(expired, queue, .expired, .none, &replaced)
            return true
        }
        let expired = queue.recent.all.first { entry in
            entry.isExpired(now: now) && (topic == nil || entry.topic == topic)
                && stream?.isInFlight(entry.sequence) != true
        }
        guard let expired else { return false }
        push(expired, queue, .expired, .none, &replaced)
        return true
    }

    /// Returns the oldest expired archived notification that is neither in flight nor about to be deleted.
    private func expiredArchived(
        of topic: TopicID?, _ queue: DeviceQueue, _ stream: DeviceStream?
    ) throws(SQLError) -> QueueEntry? {
        guard queue.archivedCount > 0, queue.archiveNextExpiry < now else { return nil }
        var found: QueueEntry?
        var next = Timestamp.distantFuture
        for expiring in try tables.archive.expiring(of: queue.device) {
            let (row, end) = (expiring.row, expiring.expiresAt)
            guard !deletions.contains(row.sequence) else { continue }
            if found == nil, topic == nil || row.topic == topic, end < now, stream?.isInFlight(row.sequence) != true {
                found = QueueEntry(
                    sequence: row.sequence, topic: row.topic, collapse: CollapseHash(), expiresAt: end)
            } else {
                next = min(next, end)
            }
        }
        queue.archiveNextExpiry = next
        return found
    }

    /// Returns the oldest archived notification of a topic that is neither in flight nor about to be deleted.
    private func oldestArchived(
        of topic: TopicID, _ queue: DeviceQueue, _ stream: DeviceStream?
    ) throws(SQLError) -> ArchiveTable.Row? {
        guard let oldest = try tables.archive.oldest(of: queue.device, topic: topic) else { return nil }
        func isFree(_ row: ArchiveTable.Row) -> Bool {
            !deletions.contains(row.sequence) && stream?.isInFlight(row.sequence) != true
        }
        if isFree(oldest) { return oldest }
        var last = oldest.sequence
        while true {
            let rows = try tables.archive.rows(of: queue.device, after: last, countMax: 64)
            for row in rows where row.topic == topic && isFree(row) { return row }
            guard let end = rows.last else { return nil }
            last = end.sequence
        }
    }
}
