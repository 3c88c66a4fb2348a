// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// What happens all the time, in memory: notifications come, go out and are acknowledged; and what is to be written.
///
/// ```
/// accept ─▶ card ─▶ device's stream (at once)          ┐
///             └───▶ unwritten ─▶ a transaction ─▶ 200  │ whichever is first
/// acknowledge ─▶ unwritten: 200, and never written  ◀──┘
///             └▶ written: deletions ─▶ a transaction
/// ```
/// A device gets a notification before it is on the disk. If it acknowledges at once, the notification is accepted and
/// need not be written. If the server ends before either, nobody was told that it was accepted.
final class Dispatcher {
    /// A row that nobody needs any more.
    struct Deletion {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
        var isSettled: Bool
    }

    let executor: Executor
    let cards: DeviceCards
    var ledger: Ledger
    /// Wall clock, UNIX milliseconds; monotonic clock: both of this turn.
    var now: Int64 = 0
    var moment = MonotonicTime.now
    /// Whether the disk takes new notifications.
    var hasSpace = true
    /// What an accepted notification survives.
    let durability: StoreDurability
    var unwritten = UnwrittenQueue()
    private(set) var deletions: [Deletion] = []
    private var deletionsDue = MonotonicTime.past
    /// Answers that are true once the deletions are on the disk.
    private var answersToDeletions: [ReplyAddress] = []
    /// Devices of which is to be written down, with the next transaction, that they were seen.
    private var seen: Set<DeviceID> = []
    /// Rows of a transaction; empty between two.
    private var newRows: [PendingTable.New] = []
    /// Settled rows that are to be deleted, which are not counted twice.
    private var settledDeletions: Set<Int64> = []

    init(_ executor: Executor, _ ledger: Ledger, _ durability: StoreDurability) {
        self.durability = durability
        self.executor = executor
        self.ledger = ledger
        cards = executor.cards
    }

    /// Takes a command of the kind that needs no transaction of its own.
    func take(_ command: StoreCommand) throws(SQLiteError) {
        switch command {
        case .accept(let notification, let answer): try accept(notification, answer)
        case .acknowledge(let acknowledgements, let device): try settle(acknowledgements, of: device)
        case .attach(let secretHash, let stream): try attach(secretHash, stream)
        case .detach(let stream):
            guard let device = ledger.detach(stream) else { return }
            cards.known(device)?.stream = nil
            unwritten.hurry(device)
        case .perform(.acknowledge(let secretHash, let acknowledgements), let answer):
            try acknowledge(secretHash, acknowledgements, answer)
        case .perform, .publish: preconditionFailure("the executor takes this command")
        }
    }

    /// Lets what a transaction did come true.
    func apply(_ events: [StoreEvent]) {
        for event in events {
            switch event {
            case .delivery(.removed(let removed, _, _)):
                guard let card = cards.known(removed.device) else { continue }
                if cards.remove(removed.sequence, from: card) == nil { card.changeSettled(removed.topic, by: -1) }
            case .holding(.registrationsChanged(let device)): cards.forgetRegistrations(of: device)
            case .reply, .delivery, .broadcast, .stream, .holding, .question: break
            }
        }
        ledger.apply(events)
    }

    // MARK: Streams

    private func attach(_ secretHash: [UInt8], _ stream: ReplyAddress) throws(SQLiteError) {
        guard let device = try identify(secretHash) else { return ledger.refuse(.unauthorized, stream) }
        // What the earlier stream had is sent again, from the table.
        unwritten.hurry(device)
        ledger.attach(device, stream, try executor.subscriptions.listeners(of: device))
    }

    /// The open stream of a card's device.
    func stream(of card: DeviceCard) -> DeviceStream? {
        let version = ledger.streams.version
        if card.streamsVersion != version {
            card.stream = ledger.streams.stream(of: card.device)
            card.streamsVersion = version
        }
        return card.stream
    }

    private func identify(_ secretHash: [UInt8]) throws(SQLiteError) -> DeviceID? {
        guard let identity = try executor.devices.authenticate(secretHash) else { return nil }
        if executor.isStale(identity, now: now) { seen.insert(identity.device) }
        return identity.device
    }

    // MARK: Acknowledgements

    private func acknowledge(
        _ secretHash: [UInt8], _ acknowledgements: [DeviceAPI.Acknowledgement], _ answer: ReplyAddress
    ) throws(SQLiteError) {
        guard let device = try identify(secretHash) else { return ledger.refuse(.unauthorized, answer) }
        guard acknowledgements.count <= Limits.acknowledgementBatchCountMax else {
            return ledger.refuse(.tooMany, answer)
        }
        try settle(acknowledgements, of: device)
        guard hasDeletions else { return ledger.confirm(answer) }
        answersToDeletions.append(answer)
        deletionsDue = .past
    }

    private func settle(
        _ acknowledgements: [DeviceAPI.Acknowledgement], of device: DeviceID
    ) throws(SQLiteError) {
        guard let card = try cards.card(of: device) else { return }
        for acknowledgement in acknowledgements {
            try settle(acknowledgement.id, card)
            // A number that was never given out tells nothing of any notification.
            guard acknowledgement.id > 0, acknowledgement.id <= executor.sequences.last else { continue }
            ledger.note(acknowledgement.outcome)
            executor.trace.record(acknowledgement, by: device, at: now)
        }
    }

    private func settle(_ sequence: Int64, _ card: DeviceCard) throws(SQLiteError) {
        if let entry = cards.remove(sequence, from: card) {
            executor.trace.recordLater(.acknowledged, of: sequence, on: card.device, at: now)
            if let unwritten = entry.unwritten {
                acknowledge(unwritten)
            } else {
                delete(entry, of: card, isSettled: false)
                ledger.acknowledge(entry, stream(of: card), at: moment)
            }
        } else if card.settledCount > 0, !settledDeletions.contains(sequence),
            let topic = try executor.settled.topic(of: sequence, of: card.device)
        {
            let entry = QueueEntry(sequence: sequence, topic: topic, collapse: CollapseHash())
            delete(entry, of: card, isSettled: true)
            executor.trace.recordLater(.acknowledged, of: sequence, on: card.device, at: now)
            ledger.acknowledge(entry, stream(of: card), at: moment)
        } else if ledger.acknowledgeNowOrNever(sequence, by: card.device) {
            executor.trace.recordLater(.acknowledged, of: sequence, on: card.device, at: now)
        } else {
            ledger.forget(sequence, of: card.device)
            guard sequence > 0, try executor.subscriptions.isWaiting(sequence, for: card.device) else { return }
            executor.trace.recordLater(.acknowledged, of: sequence, on: card.device, at: now)
            broadcastAcknowledgements.append((sequence, card.device))
            setDeletionsDue()
        }
    }

    /// A notification was acknowledged before it was written: it is accepted, once nothing of what it replaced can come back.
    private func acknowledge(_ acknowledged: Unwritten) {
        ledger.acknowledge(acknowledged.pending.sequence, stream(of: acknowledged.card), at: moment)
        if acknowledged.replaced.isEmpty {
            unwritten.leaveOut(acknowledged)
            ledger.accept(acknowledged, isAcknowledged: true)
        } else {
            acknowledged.isAcknowledged = true
            unwritten.hurry(acknowledged)
        }
    }

    /// Broadcasts that devices acknowledged, to be written with the deletions.
    private var broadcastAcknowledgements: [(sequence: Int64, device: DeviceID)] = []

    // MARK: Deletions

    /// Has a row deleted with the next transaction.
    func delete(_ entry: QueueEntry, of card: DeviceCard, isSettled: Bool) {
        if isSettled {
            settledDeletions.insert(entry.sequence)
            card.changeSettled(entry.topic, by: -1)
        }
        deletions.append(
            Deletion(sequence: entry.sequence, device: card.device, topic: entry.topic, isSettled: isSettled))
        setDeletionsDue()
    }

    private func setDeletionsDue() {
        guard deletions.count + broadcastAcknowledgements.count == 1 else { return }
        deletionsDue = moment.advanced(byMilliseconds: WriterLimits.deletionDelayMilliseconds)
    }

    // MARK: The disk

    /// When a transaction is due; nil when there is nothing to write.
    var nextDue: MonotonicTime? {
        let due = unwritten.nextDue
        guard hasDeletions else { return due }
        let isMuch = deletions.count >= WriterLimits.deletionsPerTransactionCountMax
        return min(due ?? deletionsDue, isMuch ? .past : deletionsDue)
    }

    /// Whether a transaction is due by a moment.
    func isDue(by moment: MonotonicTime) -> Bool { nextDue.map { $0 <= moment } ?? false }

    /// The last sequence before the first one that is not written.
    var lastWritten: Int64 {
        unwritten.first.map { $0.pending.sequence - 1 } ?? executor.sequences.last
    }

    /// Whether a settled row only waits for its deletion.
    func isBeingDeleted(_ sequence: Int64) -> Bool { settledDeletions.contains(sequence) }

    /// Whether a device needs a row no more that is still there: it, or its acknowledgement of a broadcast, waits for the
    /// next transaction.
    func isGone(_ sequence: Int64, for device: DeviceID) -> Bool {
        isBeingDeleted(sequence)
            || broadcastAcknowledgements.contains { $0.sequence == sequence && $0.device == device }
    }

    /// Notes that a settled row goes when what replaces it is written.
    func noteBeingReplaced(_ sequence: Int64) { settledDeletions.insert(sequence) }

    var hasDeletions: Bool { !deletions.isEmpty || !broadcastAcknowledgements.isEmpty }

    /// Writes the notifications that are due; inside a transaction.
    func writeNotifications(_ due: Due) throws(SQLiteError) {
        defer { newRows.removeAll(keepingCapacity: true) }
        for unwritten in unwritten.all where due.contains(unwritten) {
            executor.trace.recordWritten(unwritten, at: now)
            if !unwritten.isAcknowledged {
                newRows.append(
                    PendingTable.New(
                        pending: unwritten.pending, collapse: unwritten.collapse,
                        expiresUnixMilliseconds: expiry(of: unwritten.pending.notification)))
            }
            for replaced in unwritten.replaced where replaced.older == nil {
                _ = try executor.pending.remove(replaced.entry.sequence)
                if replaced.isSettled {
                    let address = unwritten.pending.notification.address
                    try executor.settled.remove(
                        replaced.entry.sequence, of: address.device, topic: replaced.entry.topic)
                }
            }
        }
        try executor.pending.add(newRows)
    }

    /// Writes down who was seen; inside a transaction.
    func writeSeen() throws(SQLiteError) { try executor.noteSeen(Array(seen)) }

    /// Deletes what is to be deleted, at most so many rows; inside a transaction.
    func writeDeletions(countMax: Int) throws(SQLiteError) {
        if hasDeletions { executor.trace.flushSoon() }
        for deletion in deletions.prefix(countMax) {
            _ = try executor.pending.remove(deletion.sequence)
            if deletion.isSettled {
                try executor.settled.remove(deletion.sequence, of: deletion.device, topic: deletion.topic)
            }
        }
        for acknowledged in broadcastAcknowledgements.prefix(countMax) {
            _ = try executor.subscriptions.acknowledge(acknowledged.sequence, by: acknowledged.device)
        }
    }

    /// It is written down who was seen.
    func confirmSeen() { if !seen.isEmpty { seen.removeAll(keepingCapacity: true) } }

    /// The notifications that were due are on the disk.
    func confirmNotifications(_ due: Due) {
        for unwritten in unwritten.all where due.contains(unwritten) {
            let card = unwritten.card
            if !unwritten.isAcknowledged { card.noteWritten(unwritten.pending.sequence) }
            for replaced in unwritten.replaced where replaced.isSettled {
                settledDeletions.remove(replaced.entry.sequence)
            }
            if unwritten.due != .past, unwritten.due <= moment { stream(of: card)?.noteSlow() }
            ledger.accept(unwritten, isAcknowledged: unwritten.isAcknowledged)
        }
        unwritten.remove(due)
    }

    /// The deletions are on the disk, up to so many of them.
    func confirmDeletions(countMax: Int) {
        for deletion in deletions.prefix(countMax) where deletion.isSettled {
            settledDeletions.remove(deletion.sequence)
        }
        deletions.removeFirst(min(countMax, deletions.count))
        broadcastAcknowledgements.removeFirst(min(countMax, broadcastAcknowledgements.count))
        guard !hasDeletions else { return }
        for answer in answersToDeletions { ledger.confirm(answer) }
        answersToDeletions.removeAll(keepingCapacity: true)
    }

    /// The disk did not take the deletions: who waits for them is told; they are tried again.
    func refuseDeletions(_ text: String) {
        for answer in answersToDeletions { ledger.refuse(.unavailable(text), answer) }
        answersToDeletions.removeAll(keepingCapacity: true)
        deletionsDue = moment.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
    }

    /// The disk did not take the notifications that were due: all is as if they had not come.
    func refuseNotifications(_ due: Due) {
        for unwritten in unwritten.all where due.contains(unwritten) { refuse(unwritten) }
        unwritten.remove(due)
    }

    private func refuse(_ unwritten: Unwritten) {
        let device = unwritten.pending.notification.address.device
        executor.trace.recordRefused(unwritten, at: now)
        ledger.refuse(unwritten)
        ledger.forget(unwritten.pending.sequence, of: device)
        guard let card = cards.known(device) else { return }
        _ = cards.remove(unwritten.pending.sequence, from: card)
        for replaced in unwritten.replaced where replaced.older == nil {
            if replaced.isSettled {
                settledDeletions.remove(replaced.entry.sequence)
                card.changeSettled(replaced.entry.topic, by: 1)
                card.settledNextExpiry = .min
            } else {
                cards.restore(replaced.entry, to: card)
            }
        }
    }
}
