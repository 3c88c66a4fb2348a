// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// Processes frequent commands in memory (notifications, acknowledgements, streams) and collects the writes that
/// follow.
///
/// ```
/// accept ─▶ queue ─▶ device's stream (immediately)      ┐
///             └───▶ unwritten ─▶ a transaction ─▶ 200  │ whichever happens first
/// acknowledge ─▶ unwritten: 200, and never written  ◀──┘
///             └▶ written: deletions ─▶ a transaction
/// ```
/// A device receives a notification before it is on the disk.
///
/// If the device acknowledges it soon, the notification is accepted without being written. If the server stops before
/// either, the provider has received no acceptance, unless the durability is `relaxed`.
final class Dispatcher {
    let tables: StoreTables
    let queues: DeviceQueues
    let sequences: Sequences
    let histories: DeliveryHistories
    let trace: TraceRecorder
    let authentication: DeviceAuthentication
    /// The devices that acknowledged in this turn, whose queues may be handed over.
    var quiet: [DeviceQueue] = []
    let configuration: StoreConfiguration
    let bounds: StoreBounds
    var deliveryState: DeliveryState
    /// The wall-clock time of this turn.
    var now = Timestamp.unixEpoch
    /// The monotonic time of this turn.
    var moment = MonotonicTime.now
    /// Whether the disk has space for new notifications.
    var hasSpace = true
    var pendingWrites = PendingWriteQueue()
    var deletions: PendingDeletions
    /// The devices whose last-seen time the next transaction writes.
    private var seen: Set<DeviceID> = []
    /// The changed names and versions of device agents that the next transaction writes.
    private var agents: [DeviceID: String] = [:]
    /// The rows of the current transaction; empty between transactions.
    private var newRows: [PendingTable.New] = []

    init(
        _ executor: Executor, _ deliveryState: DeliveryState, _ configuration: StoreConfiguration, _ bounds: StoreBounds
    ) {
        tables = executor.tables
        queues = executor.queues
        sequences = executor.sequences
        histories = executor.histories
        trace = executor.trace
        authentication = executor.authentication
        self.configuration = configuration
        self.bounds = bounds
        deletions = PendingDeletions(delayMilliseconds: configuration.deletionDelayMilliseconds)
        self.deliveryState = deliveryState
    }

    /// Executes a command that needs no transaction of its own.
    func take(_ command: StoreCommand) throws(SQLError) {
        switch command {
        case .accept(let notification, let answer): try accept(notification, answer)
        case .acknowledge(let acknowledgements, let device): try acknowledge(acknowledgements, of: device)
        case .attach(let credential, let stream, let agent): try attach(credential, stream, agent)
        case .detach(let stream):
            guard let device = deliveryState.detach(stream) else { return }
            pendingWrites.expedite(device)
        case .perform(.device(.acknowledge(let acknowledgements), let credential), let answer):
            try acknowledge(credential, acknowledgements, answer)
        case .perform(.device(.identify, let credential), let answer):
            guard let identity = try identify(credential) else {
                return deliveryState.replies.refuse(.unauthorized, answer)
            }
            deliveryState.replies.answer(.identified(identity.device), answer)
        // This process is the only one that changes the directory.
        case .usesDirectory: break
        // `Writer.isForDispatcher` routes these commands to the executor or the gate, so this case is unreachable.
        case .perform, .publish, .host: deliveryState.refuse(command, RequestExecutor.misdirected)
        }
    }

    /// Applies the events of a committed transaction to memory.
    func apply(_ events: [StoreEvent]) { deliveryState.apply(events) }

    /// Delivers all replies to the loops: answers, then notifications, and last the answers to accepted notifications.
    func sendReplies() { deliveryState.sendReplies(now: now) }

    // MARK: Streams

    private func attach(_ credential: DeviceCredential, _ stream: ReplyAddress, _ agent: String) throws(SQLError) {
        guard let identity = try identify(credential) else {
            return deliveryState.replies.refuse(.unauthorized, stream)
        }
        let device = identity.device
        if !agent.utf8.elementsEqual(identity.agent.utf8) { agents[device] = agent }
        // The notifications in flight on the earlier stream are read from the table and sent again, so write them now.
        pendingWrites.expedite(device)
        deliveryState.attach(queues.record(of: device), stream, try tables.subscriptions.active(of: device))
    }

    private func identify(_ credential: DeviceCredential) throws(SQLError) -> DeviceTable.Identity? {
        guard let identity = try tables.devices.authenticate(credential) else { return nil }
        if authentication.isStale(identity, now: now) { seen.insert(identity.device) }
        return identity
    }

    // MARK: Acknowledgements

    private func acknowledge(
        _ credential: DeviceCredential, _ acknowledgements: [DeviceAPI.Acknowledgement], _ answer: ReplyAddress
    ) throws(SQLError) {
        guard let device = try identify(credential)?.device else {
            return deliveryState.replies.refuse(.unauthorized, answer)
        }
        guard acknowledgements.count <= Limits.acknowledgementBatchCountMax else {
            return deliveryState.replies.refuse(.tooMany, answer)
        }
        try acknowledge(acknowledgements, of: device)
        guard hasDeletions else { return deliveryState.replies.answer(.done, answer) }
        deletions.add(answer)
    }

    // MARK: The disk

    /// The time at which a transaction is due; nil if there is nothing to write.
    var nextDue: MonotonicTime? {
        guard let due = deletions.nextDue else { return pendingWrites.nextDue }
        return pendingWrites.nextDue.map { min($0, due) } ?? due
    }

    /// Returns whether a transaction is due by a time.
    func isDue(by moment: MonotonicTime) -> Bool { nextDue.map { $0 <= moment } ?? false }

    /// The last sequence before the first pending write.
    var lastWritten: Int64 {
        pendingWrites.all.lazy.map(\.pending.sequence).min().map { $0 - 1 } ?? sequences.last
    }

    var hasDeletions: Bool { !deletions.isEmpty }

    /// Returns whether a transaction that writes what is due writes the deletions too.
    func deletes(_ due: Due) -> Bool { deletions.nextDue.map { $0 <= due.moment } ?? false }

    /// Writes the notifications that are due.
    ///
    /// The caller must have begun a transaction.
    func writeNotifications(_ due: Due) throws(SQLError) {
        defer { newRows.removeAll(keepingCapacity: true) }
        for write in pendingWrites.all where due.contains(write) {
            let position = trace.recordWritten(write, at: now)
            if !write.isAcknowledged {
                newRows.append(
                    PendingTable.New(
                        pending: write.pending, collapse: write.collapse,
                        expiresAt: expiry(of: write.pending.notification), tracePosition: position))
            }
            for replaced in write.replaced where replaced.older == nil {
                _ = try tables.pending.remove(replaced.entry.sequence)
                if replaced.isArchived {
                    let address = write.pending.notification.address
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
    func writeSeen() throws(SQLError) {
        let now = now
        try authentication.noteSeen(seen.map { (device: $0, at: now) })
        for (device, agent) in agents { try tables.devices.setAgent(agent, of: device) }
    }

    /// Writes the scheduled deletions and broadcast acknowledgements, at most `countMax` of each, in a transaction.
    func writeDeletions(countMax: Int) throws(SQLError) {
        if hasDeletions {
            trace.releaseHeld()
            trace.flushSoon()
        }
        try deletions.write(countMax: countMax, tables)
    }

    /// Clears the last-seen times after they were committed.
    func confirmSeen() {
        if !seen.isEmpty { seen.removeAll(keepingCapacity: true) }
        if !agents.isEmpty { agents.removeAll(keepingCapacity: true) }
    }

    /// Completes the notifications that were due after they were committed.
    func confirmNotifications(_ due: Due) {
        for write in pendingWrites.all where due.contains(write) {
            let queue = write.queue
            if !write.isAcknowledged { queue.noteWritten(write.pending.sequence) }
            for replaced in write.replaced where replaced.isArchived {
                deletions.removeReplaced(replaced.entry.sequence)
            }
            if write.due > .past, write.due <= moment { queue.stream?.noteSlow() }
            deliveryState.accept(write, isAcknowledged: write.isAcknowledged)
        }
        pendingWrites.remove(due)
    }

    /// Completes the deletions after at most `countMax` of them were committed.
    func confirmDeletions(countMax: Int) {
        for answer in deletions.confirm(countMax: countMax, queues) { deliveryState.replies.answer(.done, answer) }
    }

    /// Refuses the requests that wait for deletions after the write failed.
    ///
    /// The deletions are retried later.
    func refuseDeletions(_ text: String) {
        for answer in deletions.postpone(at: moment) { deliveryState.replies.refuse(.unavailable(text), answer) }
    }

    /// Refuses the notifications that were due after the write failed, and restores those that they would replace.
    func refuseNotifications(_ due: Due) {
        for write in pendingWrites.all where due.contains(write) { refuse(write) }
        pendingWrites.remove(due)
    }

    private func refuse(_ write: PendingWrite) {
        let device = write.pending.notification.address.device
        trace.recordRefused(write, at: now)
        deliveryState.refuse(write)
        guard let queue = queues.known(device) else { return }
        deliveryState.forget(write.pending.sequence, of: queue)
        _ = queues.remove(write.pending.sequence, from: queue)
        for replaced in write.replaced where replaced.older == nil {
            if replaced.isArchived {
                deletions.removeReplaced(replaced.entry.sequence)
                queue.changeArchived(replaced.entry.topic, by: 1)
                queue.archiveNextExpiry = .distantPast
            } else {
                queues.restore(replaced.entry, to: queue)
            }
        }
    }
}
