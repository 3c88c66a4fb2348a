// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Processes frequent commands in memory (notifications, acknowledgements, streams) and collects the writes that
/// follow.
///
/// ```
/// accept ─▶ card ─▶ device's stream (immediately)      ┐
///             └───▶ unwritten ─▶ a transaction ─▶ 200  │ whichever happens first
/// acknowledge ─▶ unwritten: 200, and never written  ◀──┘
///             └▶ written: deletions ─▶ a transaction
/// ```
/// A device receives a notification before it is on the disk.
///
/// If the device acknowledges it soon, the notification is accepted without being written. If the server stops before
/// either, the provider has received no acceptance, unless the durability is `relaxed`.
final class Dispatcher {
    /// A row to delete.
    struct Deletion {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
        var isSettled: Bool
    }

    let tables: StoreTables
    let cards: DeviceQueues
    let sequences: Sequences
    let histories: DeliveryHistories
    let trace: TraceRecorder
    private let authentication: DeviceAuthentication
    let configuration: StoreConfiguration
    var deliveryState: DeliveryState
    /// The wall-clock time of this turn in UNIX milliseconds.
    var now: Int64 = 0
    /// The monotonic time of this turn.
    var moment = MonotonicTime.now
    /// Whether the disk has space for new notifications.
    var hasSpace = true
    var unwritten = PendingWriteQueue()
    private(set) var deletions: [Deletion] = []
    /// The broadcasts that devices acknowledged, to be written together with the deletions.
    private var broadcastAcknowledgements: [(sequence: Int64, device: DeviceID)] = []
    private var deletionsDue = MonotonicTime.past
    /// The answers to send after the deletions are committed.
    private var answersToDeletions: [ReplyAddress] = []
    /// The devices whose last-seen time the next transaction writes.
    private var seen: Set<DeviceID> = []
    /// The rows of the current transaction; empty between transactions.
    private var newRows: [PendingTable.New] = []
    /// The sequences of archived rows to delete, so that none is counted or deleted twice.
    private var settledDeletions: Set<Int64> = []

    init(_ executor: Executor, _ deliveryState: DeliveryState, _ configuration: StoreConfiguration) {
        tables = executor.tables
        cards = executor.cards
        sequences = executor.sequences
        histories = executor.histories
        trace = executor.trace
        authentication = executor.authentication
        self.configuration = configuration
        self.deliveryState = deliveryState
    }

    /// Executes a command that needs no transaction of its own.
    func take(_ command: StoreCommand) throws(SQLiteError) {
        switch command {
        case .accept(let notification, let answer): try accept(notification, answer)
        case .acknowledge(let acknowledgements, let device): try settle(acknowledgements, of: device)
        case .attach(let secretHash, let stream): try attach(secretHash, stream)
        case .detach(let stream):
            guard let device = deliveryState.detach(stream) else { return }
            unwritten.expedite(device)
        case .perform(.acknowledge(let secretHash, let acknowledgements), let answer):
            try acknowledge(secretHash, acknowledgements, answer)
        case .perform(.identify(let secretHash), let answer):
            guard let device = try identify(secretHash) else {
                return deliveryState.outbox.refuse(.unauthorized, answer)
            }
            deliveryState.outbox.answer(.identified(device), answer)
        // `Writer.isForDispatcher` routes these commands to the executor, so this case is unreachable.
        case .perform, .publish: deliveryState.refuse(command, Executor.misdirected)
        }
    }

    /// Applies the events of a committed transaction to memory.
    func apply(_ events: [StoreEvent]) { deliveryState.apply(events) }

    /// Delivers all answers and then all notifications to the loops.
    func handOut() { deliveryState.handOut(now: now) }

    // MARK: Streams

    private func attach(_ secretHash: [UInt8], _ stream: ReplyAddress) throws(SQLiteError) {
        guard let device = try identify(secretHash) else { return deliveryState.outbox.refuse(.unauthorized, stream) }
        // The notifications in flight on the earlier stream are read from the table and sent again, so write them now.
        unwritten.expedite(device)
        deliveryState.attach(cards.record(of: device), stream, try tables.subscriptions.listeners(of: device))
    }

    private func identify(_ secretHash: [UInt8]) throws(SQLiteError) -> DeviceID? {
        guard let identity = try tables.devices.authenticate(secretHash) else { return nil }
        if authentication.isStale(identity, now: now) { seen.insert(identity.device) }
        return identity.device
    }

    // MARK: Acknowledgements

    private func acknowledge(
        _ secretHash: [UInt8], _ acknowledgements: [DeviceAPI.Acknowledgement], _ answer: ReplyAddress
    ) throws(SQLiteError) {
        guard let device = try identify(secretHash) else { return deliveryState.outbox.refuse(.unauthorized, answer) }
        guard acknowledgements.count <= Limits.acknowledgementBatchCountMax else {
            return deliveryState.outbox.refuse(.tooMany, answer)
        }
        try settle(acknowledgements, of: device)
        guard hasDeletions else { return deliveryState.outbox.answer(.done, answer) }
        answersToDeletions.append(answer)
        deletionsDue = .past
    }

    // MARK: Deletions

    /// Schedules the deletion of a row.
    func delete(_ entry: QueueEntry, of card: DeviceQueue, isSettled: Bool) {
        if isSettled {
            settledDeletions.insert(entry.sequence)
            card.settledDeletionCount += 1
            card.changeSettled(entry.topic, by: -1)
        }
        deletions.append(
            Deletion(sequence: entry.sequence, device: card.device, topic: entry.topic, isSettled: isSettled))
        setDeletionsDue()
    }

    /// Schedules the write of a device's acknowledgement of a stored broadcast.
    func noteBroadcastAcknowledged(_ sequence: Int64, by device: DeviceID) {
        broadcastAcknowledgements.append((sequence, device))
        setDeletionsDue()
    }

    private func setDeletionsDue() {
        guard deletions.count + broadcastAcknowledgements.count == 1 else { return }
        deletionsDue = moment.advanced(byMilliseconds: WriterLimits.deletionDelayMilliseconds)
    }

    // MARK: The disk

    /// The time at which a transaction is due; nil when there is nothing to write.
    var nextDue: MonotonicTime? {
        let due = unwritten.nextDue
        guard hasDeletions else { return due }
        let isMuch = deletions.count >= WriterLimits.deletionsPerTransactionCountMax
        return min(due ?? deletionsDue, isMuch ? .past : deletionsDue)
    }

    /// Returns whether a transaction is due by a time.
    func isDue(by moment: MonotonicTime) -> Bool { nextDue.map { $0 <= moment } ?? false }

    /// The last sequence before the first pending write.
    var lastWritten: Int64 {
        unwritten.first.map { $0.pending.sequence - 1 } ?? sequences.last
    }

    /// Returns whether an archived row is about to be deleted.
    func isBeingDeleted(_ sequence: Int64) -> Bool { settledDeletions.contains(sequence) }

    /// Returns whether a device no longer needs a row that still exists.
    ///
    /// The deletion of the row, or the device's acknowledgement of a broadcast, waits for the next transaction.
    ///
    /// - Parameters:
    ///   - sequence: The row's sequence.
    ///   - device: The device.
    /// - Returns: Whether to skip the row.
    func isGone(_ sequence: Int64, for device: DeviceID) -> Bool {
        isBeingDeleted(sequence)
            || broadcastAcknowledgements.contains { $0.sequence == sequence && $0.device == device }
    }

    /// Records that an archived row is deleted when the notification that replaces it is written.
    func noteBeingReplaced(_ sequence: Int64) { settledDeletions.insert(sequence) }

    var hasDeletions: Bool { !deletions.isEmpty || !broadcastAcknowledgements.isEmpty }

    /// Writes the notifications that are due.
    ///
    /// The caller must have begun a transaction.
    func writeNotifications(_ due: Due) throws(SQLiteError) {
        defer { newRows.removeAll(keepingCapacity: true) }
        for unwritten in unwritten.all where due.contains(unwritten) {
            trace.recordWritten(unwritten, at: now)
            if !unwritten.isAcknowledged {
                newRows.append(
                    PendingTable.New(
                        pending: unwritten.pending, collapse: unwritten.collapse,
                        expiresUnixMilliseconds: expiry(of: unwritten.pending.notification)))
            }
            for replaced in unwritten.replaced where replaced.older == nil {
                _ = try tables.pending.remove(replaced.entry.sequence)
                if replaced.isSettled {
                    let address = unwritten.pending.notification.address
                    try tables.archive.remove(
                        replaced.entry.sequence, of: address.device, topic: replaced.entry.topic)
                }
            }
        }
        try tables.pending.add(newRows)
    }

    /// Writes the last-seen times.
    ///
    /// The caller must have begun a transaction.
    func writeSeen() throws(SQLiteError) { try authentication.noteSeen(seen) }

    /// Writes the scheduled deletions and broadcast acknowledgements, at most `countMax` of each, in a transaction.
    func writeDeletions(countMax: Int) throws(SQLiteError) {
        if hasDeletions { trace.flushSoon() }
        for deletion in deletions.prefix(countMax) {
            _ = try tables.pending.remove(deletion.sequence)
            if deletion.isSettled {
                try tables.archive.remove(deletion.sequence, of: deletion.device, topic: deletion.topic)
            }
        }
        for acknowledged in broadcastAcknowledgements.prefix(countMax) {
            _ = try tables.subscriptions.acknowledge(acknowledged.sequence, by: acknowledged.device)
        }
    }

    /// Clears the last-seen times after they were committed.
    func confirmSeen() { if !seen.isEmpty { seen.removeAll(keepingCapacity: true) } }

    /// Completes the notifications that were due after they were committed.
    func confirmNotifications(_ due: Due) {
        for unwritten in unwritten.all where due.contains(unwritten) {
            let card = unwritten.card
            if !unwritten.isAcknowledged { card.noteWritten(unwritten.pending.sequence) }
            for replaced in unwritten.replaced where replaced.isSettled {
                settledDeletions.remove(replaced.entry.sequence)
            }
            if unwritten.due != .past, unwritten.due <= moment { card.stream?.noteSlow() }
            deliveryState.accept(unwritten, isAcknowledged: unwritten.isAcknowledged)
        }
        unwritten.remove(due)
    }

    /// Completes the deletions after at most `countMax` of them were committed.
    func confirmDeletions(countMax: Int) {
        for deletion in deletions.prefix(countMax) where deletion.isSettled {
            settledDeletions.remove(deletion.sequence)
            cards.known(deletion.device)?.settledDeletionCount -= 1
        }
        deletions.removeFirst(min(countMax, deletions.count))
        broadcastAcknowledgements.removeFirst(min(countMax, broadcastAcknowledgements.count))
        guard !hasDeletions else { return }
        for answer in answersToDeletions { deliveryState.outbox.answer(.done, answer) }
        answersToDeletions.removeAll(keepingCapacity: true)
    }

    /// Refuses the requests that wait for deletions after the write failed.
    ///
    /// The deletions are retried later.
    func refuseDeletions(_ text: String) {
        for answer in answersToDeletions { deliveryState.outbox.refuse(.unavailable(text), answer) }
        answersToDeletions.removeAll(keepingCapacity: true)
        deletionsDue = moment.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
    }

    /// Refuses the notifications that were due after the write failed, and restores those that they would replace.
    func refuseNotifications(_ due: Due) {
        for unwritten in unwritten.all where due.contains(unwritten) { refuse(unwritten) }
        unwritten.remove(due)
    }

    private func refuse(_ unwritten: PendingWrite) {
        let device = unwritten.pending.notification.address.device
        trace.recordRefused(unwritten, at: now)
        deliveryState.refuse(unwritten)
        guard let card = cards.known(device) else { return }
        deliveryState.forget(unwritten.pending.sequence, of: card)
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
