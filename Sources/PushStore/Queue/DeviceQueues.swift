// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The in-memory records of devices, read from the tables on first use.
///
/// A record with recent entries is never evicted, because the newest rows of `pending` are indexed by device only here.
/// A record with an open stream is not evicted either. Of the other records, a bounded number is kept.
final class DeviceQueues {
    private let registrations: RegistrationTable
    private let devices: DeviceTable
    private let settled: ArchiveTable
    private let countMax: Int
    private var cards: [DeviceID: DeviceQueue] = [:]
    /// The number of records at which some are evicted; above `countMax` while few records can be evicted.
    private var evictionCount: Int
    /// A number that grows when registrations change without naming the devices.
    private var version: UInt64 = 1
    /// The number of recent entries of all devices.
    private(set) var recentCount = 0

    init(_ registrations: RegistrationTable, _ devices: DeviceTable, _ settled: ArchiveTable, countMax: Int) {
        self.countMax = countMax
        evictionCount = countMax
        self.registrations = registrations
        self.devices = devices
        self.settled = settled
    }

    /// Adds a row that is not archived; called for each such row when the store opens.
    func load(_ row: PendingTable.Recent) {
        append(
            QueueEntry(
                sequence: row.sequence, topic: row.topic, collapse: row.collapse,
                expiresUnixMilliseconds: row.expiresUnixMilliseconds),
            to: record(of: row.device))
    }

    /// Returns the record of a device; nil when the device was never enrolled.
    func card(of device: DeviceID) throws(SQLiteError) -> DeviceQueue? {
        if let card = cards[device] {
            if card.registrationsVersion != version || card.settled == nil { try fill(card) }
            return card
        }
        guard let stored = Int64(exactly: device.rawValue), try devices.wasEnrolled(stored) else { return nil }
        let card = record(of: device)
        try fill(card)
        return card
    }

    /// Returns the record of a device if it is in memory, without reading the tables.
    func known(_ device: DeviceID) -> DeviceQueue? { cards[device] }

    /// Calls a closure for each record with recent entries.
    func forEachWithRecent(_ take: (DeviceQueue) -> Void) {
        for card in cards.values where !card.recent.isEmpty { take(card) }
    }

    /// Returns whether the stream of a device is open.
    func isConnected(_ device: DeviceID) -> Bool { cards[device]?.stream != nil }

    /// Returns the record of a device; creates one without reading the tables.
    func record(of device: DeviceID) -> DeviceQueue {
        if let card = cards[device] { return card }
        if cards.count >= evictionCount { forgetSome() }
        let card = DeviceQueue(device)
        cards[device] = card
        return card
    }

    private func fill(_ card: DeviceQueue) throws(SQLiteError) {
        if card.registrationsVersion != version {
            card.registrations = try registrations.all(of: card.device)
            card.registrationsVersion = version
        }
        if card.settled == nil { card.settled = try settled.counts(of: card.device) }
    }

    // MARK: Changing

    func append(_ entry: QueueEntry, to card: DeviceQueue) {
        card.append(entry)
        recentCount += 1
    }

    func restore(_ entry: QueueEntry, to card: DeviceQueue) {
        card.restore(entry)
        recentCount += 1
    }

    func remove(_ sequence: Int64, from card: DeviceQueue) -> QueueEntry? {
        guard let entry = card.remove(sequence) else { return nil }
        recentCount -= 1
        return entry
    }

    /// Records that a recent notification is archived.
    func noteArchived(_ row: Compaction.Row) {
        guard remove(row.entry.sequence, from: row.card) != nil else { return }
        row.card.changeSettled(row.entry.topic, by: 1)
        row.card.settledNextExpiry = min(row.card.settledNextExpiry, row.entry.expiresUnixMilliseconds ?? .max)
    }

    /// Marks the registrations of a device to be read again; of all devices when `device` is nil.
    func forgetRegistrations(of device: DeviceID?) {
        guard let device else { return version += 1 }
        cards[device]?.registrationsVersion = 0
    }

    /// Evicts some records whose content is also in the tables.
    private func forgetSome() {
        var forgotten: [DeviceID] = []
        // A record that is read again before a deletion commits would count the row to delete.
        for (device, card) in cards
        where card.recent.isEmpty && card.settledDeletionCount == 0 && card.stream == nil {
            forgotten.append(device)
            if cards.count - forgotten.count < countMax - countMax / 16 { break }
        }
        for device in forgotten { cards[device] = nil }
        // When few records can be evicted, search again only after many new ones.
        evictionCount = max(countMax, cards.count + countMax / 16)
    }
}
