// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The queues of devices as rows of the tables: reads, removes and archives them.
final class StoredQueues: WaitingNotifications {
    /// A row of a device's queue; without a notification when its checksum is wrong.
    struct PendingRow {
        var sequence: Int64
        var topic: TopicID
        var notification: PendingNotification?
        var channel: ChannelID?
        /// The expiration; nil without one.
        var expiresAt: Timestamp?

        /// Returns whether the notification has expired.
        func isExpired(now: Timestamp) -> Bool {
            if let expiresAt { return now > expiresAt }
            return notification?.notification.isExpired(now: now) ?? false
        }
    }

    /// A part of a device's queue.
    struct PendingRows {
        var rows: [PendingRow] = []
        /// The last sequence that was read.
        var last: Int64
        /// Whether no row is left after `last`.
        var isComplete = true
    }

    private let pending: PendingTable
    private let archive: ArchiveTable
    private let broadcasts: BroadcastTable
    private let state: StateTable
    private let queues: DeviceQueues

    init(_ tables: StoreTables, _ queues: DeviceQueues) {
        pending = tables.pending
        archive = tables.archive
        broadcasts = tables.broadcasts
        state = tables.state
        self.queues = queues
    }

    /// Reads the next rows of a device's queue, its own notifications and broadcasts, ordered by sequence.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - isSubscriber: Whether to read broadcasts.
    ///   - sequence: The sequence after which to read.
    ///   - now: The current time. Expired rows are left out.
    ///   - countMax: The maximum number of rows.
    ///   - isGone: Returns whether a row is about to be deleted.
    /// - Returns: The rows; damaged ones without their notifications.
    /// - Throws: The error that SQLite returned.
    func pendingRows(
        of device: DeviceID, isSubscriber: Bool, after sequence: Int64, now: Timestamp, countMax: Int,
        isGone: (Int64) -> Bool
    ) throws(SQLError) -> PendingRows {
        var found = try own(of: device, after: sequence, countMax: countMax, isGone: isGone)
        if isSubscriber { try addBroadcasts(to: &found, device, after: sequence, now: now, countMax: countMax) }
        if found.rows.count > countMax {
            found.rows.removeLast(found.rows.count - countMax)
            found.last = found.rows[countMax - 1].sequence
            found.isComplete = false
        }
        found.rows.removeAll { row in row.isExpired(now: now) || isGone(row.sequence) }
        return found
    }

    /// Reads the device's own notifications: first the archived ones, which are older, then those in memory.
    private func own(
        of device: DeviceID, after sequence: Int64, countMax: Int, isGone: (Int64) -> Bool
    ) throws(SQLError) -> PendingRows {
        var found = PendingRows(last: sequence)
        guard let queue = try queues.queue(of: device) else { return found }
        if queue.archivedCount > 0 {
            let rows = try archive.rows(of: device, after: sequence, countMax: countMax)
            for row in rows where !isGone(row.sequence) { try read(row.sequence, of: device, into: &found.rows) }
            found.last = rows.last?.sequence ?? sequence
            if rows.count == countMax {
                found.isComplete = false
                return found
            }
        }
        for entry in queue.recent.after(found.last) {
            guard found.rows.count < countMax else {
                found.isComplete = false
                break
            }
            if let write = entry.pendingWrite {
                // With a durability below `full`, a notification may stay unwritten for a while.
                found.rows.append(PendingRow(write, entry))
            } else {
                try read(entry.sequence, of: device, into: &found.rows)
            }
            found.last = entry.sequence
        }
        return found
    }

    private func read(
        _ sequence: Int64, of device: DeviceID, into rows: inout [PendingRow]
    ) throws(SQLError) {
        guard let row = try pending.read(sequence, of: device) else { return }
        rows.append(
            PendingRow(
                sequence: sequence, topic: row.topic, notification: row.notification, channel: nil,
                expiresAt: row.expiresAt))
    }

    /// Merges broadcasts into the rows, up to the sequence to which both were read.
    private func addBroadcasts(
        to found: inout PendingRows, _ device: DeviceID, after sequence: Int64, now: Timestamp, countMax: Int
    ) throws(SQLError) {
        var rows: [PendingRow] = []
        try broadcasts.forEachWaiting(of: device, after: sequence, now: now, countMax: countMax) { pending, isIntact in
            rows.append(
                PendingRow(
                    sequence: pending.sequence, topic: pending.notification.address.topic,
                    notification: isIntact ? pending : nil, channel: pending.notification.channel))
        }
        guard let lastBroadcast = rows.last?.sequence else { return }
        let ownEnd = found.isComplete ? Int64.max : found.last
        let broadcastEnd = rows.count < countMax ? Int64.max : lastBroadcast
        let end = min(ownEnd, broadcastEnd)
        found.rows = (found.rows + rows).filter { $0.sequence <= end }.sorted { $0.sequence < $1.sequence }
        found.last = end == .max ? max(found.last, lastBroadcast) : end
        found.isComplete = end == .max
    }

    // MARK: Removing

    /// Removes the pending notifications of a device, or of an app on it.
    func remove(of device: DeviceID, topic: TopicID?) throws(SQLError) -> [PendingTable.Removed] {
        var removed: [PendingTable.Removed] = []
        func removeRow(_ sequence: Int64, _ rowTopic: TopicID, isArchived: Bool) throws(SQLError) {
            guard topic == nil || rowTopic == topic, try pending.remove(sequence) else { return }
            if isArchived { try archive.remove(sequence, of: device, topic: rowTopic) }
            removed.append(PendingTable.Removed(sequence: sequence, device: device, topic: rowTopic))
        }
        for row in try archive.rows(of: device, after: .min, countMax: .max) {
            try removeRow(row.sequence, row.topic, isArchived: true)
        }
        for entry in queues.known(device)?.recent.all ?? [] {
            try removeRow(entry.sequence, entry.topic, isArchived: false)
        }
        return removed
    }

    /// Removes rows of any devices; returns those that existed.
    func remove(_ rows: [PendingTable.Removed]) throws(SQLError) -> [PendingTable.Removed] {
        var removed: [PendingTable.Removed] = []
        for row in rows where try pending.remove(row.sequence) { removed.append(row) }
        // Delete in the order of the index, so that each page is read and written once.
        for row in removed.sorted(by: { ($0.device.rawValue, $0.sequence) < ($1.device.rawValue, $1.sequence) }) {
            try archive.remove(row.sequence, of: row.device, topic: row.topic)
        }
        return removed
    }

    /// Returns the number of notifications that wait for a device, with the broadcasts that its channels store.
    func pendingCount(of device: DeviceID) throws(SQLError) -> Int {
        let archivedCount = try archive.counts(of: device).reduce(0) { $0 + $1.count }
        return try archivedCount + (queues.known(device)?.recent.count ?? 0) + broadcasts.count(of: device)
    }

    // MARK: Archiving

    /// Writes a step of an archiving run, and its end.
    func archive(_ rows: [ArchivingRun.Row], through end: Int64?) throws(SQLError) {
        for row in rows {
            try archive.add(
                ArchiveTable.Row(sequence: row.entry.sequence, topic: row.entry.topic), of: row.queue.device,
                collapse: row.entry.collapse)
        }
        if let end { try state.setArchivedThrough(end) }
    }
}

extension StoredQueues.PendingRow {
    /// Creates a row from a notification that is only in memory.
    fileprivate init(_ write: PendingWrite, _ entry: QueueEntry) {
        self.init(
            sequence: entry.sequence, topic: entry.topic, notification: write.pending, channel: nil,
            expiresAt: entry.expiresAt)
    }
}
