// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The in-memory records of devices, read from the tables on first use.
///
/// A record with recent entries is never evicted, because the newest rows of `pending` are indexed by device only here.
/// A record with an open stream is not evicted either. Of the other records, a bounded number is kept.
final class DeviceQueues {
    private let registrations: RegistrationTable
    private let devices: DeviceTable
    private let archive: ArchiveTable
    private let countMax: Int
    private var queues: [DeviceID: DeviceQueue] = [:]
    /// The number of records at which some are evicted; above `countMax` while few records can be evicted.
    private var evictionCount: Int
    /// A number that grows when registrations change without naming the devices.
    private var version: UInt64 = 1
    /// The time of the start.
    ///
    /// Devices that were seen since `expectsSince` are expected to reconnect.
    private let start: (at: Timestamp, expectsSince: Timestamp)?
    /// The number of recent entries of all devices.
    private(set) var recentCount = 0

    /// Creates the collection of records without any record.
    ///
    /// - Parameters:
    ///   - registrations: The table of registrations.
    ///   - devices: The table of devices.
    ///   - archive: The table of archived notifications.
    ///   - countMax: The number of records at which some are evicted.
    ///   - start: The time of the start, and the earliest last-seen time of a device that had a stream when the store
    ///     closed; nil for a new file.
    init(
        _ registrations: RegistrationTable, _ devices: DeviceTable, _ archive: ArchiveTable, countMax: Int,
        start: (at: Timestamp, expectsSince: Timestamp)? = nil
    ) {
        self.start = start
        self.countMax = countMax
        evictionCount = countMax
        self.registrations = registrations
        self.devices = devices
        self.archive = archive
    }

    /// Adds a row that is not archived; called for each such row when the store opens.
    func load(_ row: PendingTable.Recent) {
        append(
            QueueEntry(
                sequence: row.sequence, topic: row.topic, collapse: row.collapse,
                expiresAt: row.expiresAt),
            to: record(of: row.device))
    }

    /// Returns the record of a device; nil if the device was never enrolled.
    func queue(of device: DeviceID) throws(SQLError) -> DeviceQueue? {
        if let queue = queues[device] {
            if queue.registrationsVersion != version || queue.archived == nil { try fill(queue) }
            return queue
        }
        guard let stored = Int64(exactly: device.rawValue), try devices.wasEnrolled(stored) else { return nil }
        let queue = record(of: device)
        try fill(queue)
        return queue
    }

    /// Returns the record of a device if it is in memory, without reading the tables.
    func known(_ device: DeviceID) -> DeviceQueue? { queues[device] }

    /// Calls a closure for each record with recent entries.
    func forEachWithRecent(_ take: (DeviceQueue) -> Void) {
        for queue in queues.values where !queue.recent.isEmpty { take(queue) }
    }

    /// Returns whether the stream of a device is open.
    func isConnected(_ device: DeviceID) -> Bool { queues[device]?.stream != nil }

    /// Returns the record of a device; creates one without reading the tables.
    func record(of device: DeviceID) -> DeviceQueue {
        if let queue = queues[device] { return queue }
        if queues.count >= evictionCount { forgetSome() }
        let queue = DeviceQueue(device)
        queues[device] = queue
        return queue
    }

    private func fill(_ queue: DeviceQueue) throws(SQLError) {
        if queue.registrationsVersion != version {
            if queue.leftAt == nil, queue.stream == nil { queue.leftAt = try leftAt(queue.device) }
            queue.registrations = try registrations.all(of: queue.device)
            queue.registrationsVersion = version
        }
        if queue.archived == nil { queue.archived = try archive.counts(of: queue.device) }
    }

    /// Returns the time of the start for a device that was connected shortly before it.
    private func leftAt(_ device: DeviceID) throws(SQLError) -> Timestamp? {
        guard let start, let stored = Int64(exactly: device.rawValue), let seen = try devices.find(stored)?.seenAt,
            seen >= start.expectsSince, seen <= start.at
        else { return nil }
        return start.at
    }

    // MARK: Changing

    func append(_ entry: QueueEntry, to queue: DeviceQueue) {
        queue.append(entry)
        recentCount += 1
    }

    func restore(_ entry: QueueEntry, to queue: DeviceQueue) {
        queue.restore(entry)
        recentCount += 1
    }

    func remove(_ sequence: Int64, from queue: DeviceQueue) -> QueueEntry? {
        guard let entry = queue.remove(sequence) else { return nil }
        recentCount -= 1
        return entry
    }

    /// Records that a recent notification is archived.
    func noteArchived(_ row: ArchivingRun.Row) {
        guard remove(row.entry.sequence, from: row.queue) != nil else { return }
        row.queue.changeArchived(row.entry.topic, by: 1)
        row.queue.archiveNextExpiry = min(row.queue.archiveNextExpiry, row.entry.expiresAt ?? .distantFuture)
    }

    /// Marks the registrations of a device to be read again; of all devices when `device` is nil.
    func forgetRegistrations(of device: DeviceID?) {
        guard let device else { return version += 1 }
        queues[device]?.registrationsVersion = 0
    }

    /// Evicts some records whose content is also in the tables.
    private func forgetSome() {
        var forgotten: [DeviceID] = []
        // A record that is read again before a deletion commits would count the row to delete.
        for (device, queue) in queues
        where queue.recent.isEmpty && queue.archivedDeletionCount == 0 && queue.stream == nil {
            forgotten.append(device)
            if queues.count - forgotten.count < countMax - countMax / 16 { break }
        }
        for device in forgotten { queues[device] = nil }
        // When few records can be evicted, search again only after many new ones.
        evictionCount = max(countMax, queues.count + countMax / 16)
    }
}
