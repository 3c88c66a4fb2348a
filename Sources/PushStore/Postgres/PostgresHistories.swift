// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Completes the notifications that devices acknowledge in requests, and keeps the delivery histories in PostgreSQL.
///
/// The host of a connected device has its history in memory, and writes it later. A row contains what all nodes know of
/// the device, so nodes add to it.
final class PostgresHistories {
    private let tables: SharedTables
    private let transaction: StoreTransaction
    private let waiting: PostgresWaiting
    private let entryCountMax: Int
    /// The outcomes that were reported for the first time in this transaction.
    private(set) var reports: [PostgresEffects.Report] = []
    /// The number of acknowledgements that this transaction ignored.
    private(set) var ignoredCount = 0

    init(
        _ tables: SharedTables, _ transaction: StoreTransaction, _ waiting: PostgresWaiting, _ entryCountMax: Int
    ) {
        self.tables = tables
        self.transaction = transaction
        self.waiting = waiting
        self.entryCountMax = entryCountMax
    }

    /// Starts a transaction.
    func begin() {
        reports.removeAll()
        ignoredCount = 0
    }

    // MARK: Acknowledgements

    /// Removes the notifications and broadcasts that a device acknowledges, and counts each outcome once.
    ///
    /// An acknowledgement is ignored unless the notification waits for the device or was sent to it.
    ///
    /// - Parameters:
    ///   - acknowledgements: The acknowledgements.
    ///   - device: The device.
    /// - Throws: The error that PostgreSQL returned.
    func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], by device: DeviceID
    ) throws(SQLError) {
        let history = DeliveryHistory(device)
        history.load(try tables.deliveryHistories.read(of: device))
        let ids = Set(acknowledgements.lazy.map(\.id).filter { $0 > 0 })
        var removed: [Int64: PendingTable.Removed] = [:]
        for row in try waiting.remove(Array(ids), of: device) { removed[row.sequence] = row }
        var hasChanged = false
        for acknowledgement in acknowledgements {
            let isEnd = try complete(acknowledgement.id, of: device, history, &removed)
            guard let index = history.index(of: acknowledgement.id) else {
                if !isEnd { ignoredCount += 1 }
                continue
            }
            let (entry, mark) = (history.entries[index], DeliveryHistory.Marks(acknowledgement.outcome))
            let isFirstTime = !entry.marks.contains(mark)
            if isFirstTime {
                let endsBroadcast = isEnd && entry.marks.contains(.broadcast)
                reports.append(
                    .init(
                        acknowledgement: acknowledgement, topic: entry.topic, device: device,
                        endsBroadcast: endsBroadcast))
            } else if !isEnd {
                ignoredCount += 1
            }
            guard isFirstTime || !entry.marks.contains(.acknowledged) else { continue }
            history.mark(index, [mark, .acknowledged])
            hasChanged = true
        }
        guard hasChanged else { return }
        try write(history)
    }

    /// Completes the notification or broadcast with an ID; returns false if it does not wait for the device.
    private func complete(
        _ id: Int64, of device: DeviceID, _ history: DeliveryHistory, _ removed: inout [Int64: PendingTable.Removed]
    ) throws(SQLError) -> Bool {
        if let row = removed.removeValue(forKey: id) {
            transaction.note([row], .acknowledged)
            if history.index(of: id) == nil { _ = history.noteSent(id, row.topic, isBroadcast: false) }
            return true
        }
        // A notification that was sent needs no further statement.
        let entry = history.index(of: id).map { history.entries[$0] }
        guard id > 0, entry?.marks.contains(.broadcast) ?? true, try tables.subscriptions.acknowledge(id, by: device)
        else { return false }
        transaction.add(.broadcast(.ended(id, device)))
        return true
    }

    // MARK: Writing

    /// Adds what nodes know to the rows of devices.
    func write(_ changed: [DeliveryHistory.Copy]) throws(SQLError) {
        for copy in changed {
            let history = DeliveryHistory(copy.device)
            history.load(try tables.deliveryHistories.read(of: copy.device))
            history.merge(copy.entries)
            try write(history)
        }
    }

    private func write(_ history: DeliveryHistory) throws(SQLError) {
        var teams: [TopicID: Int] = [:]
        if history.entries.count > entryCountMax { teams = try self.teams() }
        _ = history.trim(to: entryCountMax) { teams[$0] ?? -1 }
        try tables.deliveryHistories.write(history.entries, of: history.device)
    }

    /// Returns a number for the team of each app.
    private func teams() throws(SQLError) -> [TopicID: Int] {
        var (numbers, teams): ([String: Int], [TopicID: Int]) = ([:], [:])
        for row in try tables.topics.all() {
            let number = numbers[row.topic.teamID] ?? numbers.count
            numbers[row.topic.teamID] = number
            teams[row.topic.id] = number
        }
        return teams
    }
}
