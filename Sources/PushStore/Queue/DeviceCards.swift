// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// The cards of devices, read from the tables when they are first needed.
///
/// A card with recent entries stays: only here is known whose rows the newest ones of `pending` are. Of the others a
/// bounded number is kept.
final class DeviceCards {
    private let registrations: RegistrationTable
    private let devices: DeviceTable
    private let settled: SettledTable
    private let countMax: Int
    private var cards: [DeviceID: DeviceCard] = [:]
    /// Grows when registrations changed of devices that nobody named.
    private var version: UInt64 = 1
    /// How many entries are recent, on all cards.
    private(set) var recentCount = 0

    init(_ registrations: RegistrationTable, _ devices: DeviceTable, _ settled: SettledTable, countMax: Int) {
        self.countMax = countMax
        self.registrations = registrations
        self.devices = devices
        self.settled = settled
    }

    /// Fills in the rows that are not settled.
    func load(_ row: PendingTable.Recent) {
        append(
            QueueEntry(
                sequence: row.sequence, topic: row.topic, collapse: row.collapse,
                expiresUnixMilliseconds: row.expiresUnixMilliseconds),
            to: bare(row.device))
    }

    /// The card of a device; nil when there never was such a device.
    func card(of device: DeviceID) throws(SQLiteError) -> DeviceCard? {
        if let card = cards[device] {
            if card.registrationsVersion != version || card.settled == nil { try fill(card) }
            return card
        }
        guard let stored = Int64(exactly: device.rawValue), try devices.wasEnrolled(stored) else { return nil }
        let card = bare(device)
        try fill(card)
        return card
    }

    /// The card of a device, if it is in memory, with what is in it.
    func known(_ device: DeviceID) -> DeviceCard? { cards[device] }

    /// All cards with recent entries.
    func forEachWithRecent(_ take: (DeviceCard) -> Void) {
        for card in cards.values where !card.recent.isEmpty { take(card) }
    }

    private func bare(_ device: DeviceID) -> DeviceCard {
        if let card = cards[device] { return card }
        if cards.count >= countMax { forgetSome() }
        let card = DeviceCard(device)
        cards[device] = card
        return card
    }

    private func fill(_ card: DeviceCard) throws(SQLiteError) {
        if card.registrationsVersion != version {
            card.registrations = try registrations.all(of: card.device)
            card.registrationsVersion = version
        }
        if card.settled == nil { card.settled = try settled.counts(of: card.device) }
    }

    // MARK: Changing

    func append(_ entry: QueueEntry, to card: DeviceCard) {
        card.append(entry)
        recentCount += 1
    }

    func restore(_ entry: QueueEntry, to card: DeviceCard) {
        card.restore(entry)
        recentCount += 1
    }

    func remove(_ sequence: Int64, from card: DeviceCard) -> QueueEntry? {
        guard let entry = card.remove(sequence) else { return nil }
        recentCount -= 1
        return entry
    }

    /// Notes that a recent notification is settled.
    func noteSettled(_ row: SettlingRun.Row) {
        guard remove(row.entry.sequence, from: row.card) != nil else { return }
        row.card.changeSettled(row.entry.topic, by: 1)
        row.card.settledNextExpiry = min(row.card.settledNextExpiry, row.entry.expiresUnixMilliseconds ?? .max)
    }

    /// Has the registrations of a device read again; of all devices when there is none.
    func forgetRegistrations(of device: DeviceID?) {
        guard let device else { return version += 1 }
        cards[device]?.registrationsVersion = 0
    }

    /// Makes room: forgets cards that say nothing but what the tables do.
    private func forgetSome() {
        var forgotten: [DeviceID] = []
        for (device, card) in cards where card.recent.isEmpty {
            forgotten.append(device)
            if forgotten.count > countMax / 16 { break }
        }
        for device in forgotten { cards[device] = nil }
    }
}
