// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushSQL

/// The deletions of acknowledged notifications that the next transactions write, and the requests that wait for them.
struct PendingDeletions {
    /// A row to delete.
    private struct Deletion {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
        var isArchived: Bool
    }

    /// A collapse ID of an app on a device.
    private struct Collapse: Hashable {
        var device: DeviceID
        var topic: TopicID
        var hash: CollapseHash
    }

    /// The acknowledgement of a broadcast.
    private struct Acknowledgement: Hashable {
        var sequence: Int64
        var device: DeviceID
    }

    private let delayMilliseconds: Int64
    private var rows: [Deletion] = []
    /// The broadcasts that devices acknowledged, to be written together with the deletions.
    private var acknowledgements: [Acknowledgement] = []
    /// The same acknowledgements, to find one of many.
    private var acknowledged: Set<Acknowledgement> = []
    /// The collapse IDs of the rows to delete, and possibly of some that are deleted.
    private var collapses: Set<Collapse> = []
    private var due = MonotonicTime.past
    /// The time before which nothing is due, after a failed write.
    private var postponedUntil = MonotonicTime.past
    /// The answers to send after the deletions are committed.
    private var answers: [ReplyAddress] = []
    /// The sequences of archived rows to delete, so that none is counted or deleted twice.
    private var archived: Set<Int64> = []

    /// Takes the time for which a deletion without a waiting request waits for others.
    init(delayMilliseconds: Int64) { self.delayMilliseconds = delayMilliseconds }

    var isEmpty: Bool { rows.isEmpty && acknowledgements.isEmpty }

    /// The time at which a transaction is due; nil if there is nothing to delete.
    var nextDue: MonotonicTime? {
        guard !isEmpty else { return nil }
        let count = rows.count + acknowledgements.count
        return max(postponedUntil, count >= WriterLimits.deletionsPerTransactionCountMax ? .past : due)
    }

    /// Returns whether an archived row is about to be deleted.
    func contains(_ sequence: Int64) -> Bool { archived.contains(sequence) }

    /// Returns whether a device no longer needs a row that still exists.
    ///
    /// The deletion of the row, or the device's acknowledgement of a broadcast, waits for the next transaction.
    ///
    /// - Parameters:
    ///   - sequence: The row's sequence.
    ///   - device: The device.
    /// - Returns: Whether to skip the row.
    func isGone(_ sequence: Int64, for device: DeviceID) -> Bool {
        contains(sequence) || acknowledged.contains(Acknowledgement(sequence: sequence, device: device))
    }

    // MARK: Scheduling

    /// Schedules the deletion of a row.
    mutating func add(_ entry: QueueEntry, of queue: DeviceQueue, isArchived: Bool, at moment: MonotonicTime) {
        if isArchived {
            archived.insert(entry.sequence)
            queue.archivedDeletionCount += 1
            queue.changeArchived(entry.topic, by: -1)
        }
        if entry.collapse.stored != nil {
            collapses.insert(Collapse(device: queue.device, topic: entry.topic, hash: entry.collapse))
        }
        rows.append(
            Deletion(sequence: entry.sequence, device: queue.device, topic: entry.topic, isArchived: isArchived))
        setDue(at: moment)
    }

    /// Schedules the write of a device's acknowledgement of a stored broadcast.
    mutating func addAcknowledgement(_ sequence: Int64, by device: DeviceID, at moment: MonotonicTime) {
        let acknowledgement = Acknowledgement(sequence: sequence, device: device)
        guard acknowledged.insert(acknowledgement).inserted else { return }
        acknowledgements.append(acknowledgement)
        setDue(at: moment)
    }

    /// Adds a request that is answered after the deletions, which are due immediately.
    mutating func add(_ answer: ReplyAddress) {
        answers.append(answer)
        due = .past
    }

    /// Makes the deletions due immediately if a row with a collapse ID is among them.
    mutating func expedite(_ device: DeviceID, _ topic: TopicID, _ collapse: CollapseHash) {
        guard !isEmpty, collapses.contains(Collapse(device: device, topic: topic, hash: collapse)) else { return }
        due = .past
    }

    /// Records that an archived row is deleted when the notification that replaces it is written.
    mutating func addReplaced(_ sequence: Int64) { archived.insert(sequence) }

    /// Records that an archived row was deleted, or that the notification that replaces it was not written.
    mutating func removeReplaced(_ sequence: Int64) { archived.remove(sequence) }

    private mutating func setDue(at moment: MonotonicTime) {
        guard rows.count + acknowledgements.count == 1 else { return }
        due = moment.advanced(byMilliseconds: delayMilliseconds)
    }

    // MARK: Writing

    /// Writes the deletions and broadcast acknowledgements, at most `countMax` of each, in a transaction.
    func write(countMax: Int, _ tables: StoreTables) throws(SQLError) {
        for deletion in rows.prefix(countMax) {
            _ = try tables.pending.remove(deletion.sequence)
            if deletion.isArchived {
                try tables.archive.remove(deletion.sequence, of: deletion.device, topic: deletion.topic)
            }
        }
        for acknowledged in acknowledgements.prefix(countMax) {
            _ = try tables.subscriptions.acknowledge(acknowledged.sequence, by: acknowledged.device)
        }
    }

    /// Removes what was committed, at most `countMax` of each kind; returns the requests to answer when nothing is
    /// left.
    mutating func confirm(countMax: Int, _ queues: DeviceQueues) -> [ReplyAddress] {
        for deletion in rows.prefix(countMax) where deletion.isArchived {
            archived.remove(deletion.sequence)
            queues.known(deletion.device)?.archivedDeletionCount -= 1
        }
        rows.removeFirst(min(countMax, rows.count))
        for acknowledgement in acknowledgements.prefix(countMax) { acknowledged.remove(acknowledgement) }
        acknowledgements.removeFirst(min(countMax, acknowledgements.count))
        guard isEmpty else { return [] }
        collapses.removeAll(keepingCapacity: true)
        return takeAnswers()
    }

    /// Delays the deletions after the write failed; returns the requests to refuse.
    mutating func postpone(at moment: MonotonicTime) -> [ReplyAddress] {
        postponedUntil = moment.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
        return takeAnswers()
    }

    private mutating func takeAnswers() -> [ReplyAddress] {
        guard !answers.isEmpty else { return [] }
        defer { answers = [] }
        return answers
    }
}
