// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet

/// A pending write: a notification that is neither on the disk nor acknowledged.
final class PendingWrite {
    /// A notification that a newer one replaced or evicted.
    struct Replaced {
        var entry: QueueEntry
        var isArchived: Bool
        /// The address of its provider, and whether it was answered; nil if the notification was written.
        var older: (answer: ReplyAddress, isAnswered: Bool)?
        var removal: RemovalReason
        /// The reason, for the trace.
        var detail: TraceDetail
    }

    let pending: PendingNotification
    let collapse: CollapseHash
    let answer: ReplyAddress
    /// The record of its device, which is not evicted while the notification is in its queue.
    let queue: DeviceQueue
    /// The notifications that this one replaces once it is accepted.
    let replaced: [Replaced]
    /// The deadline for writing it; in the past for an urgent one.
    fileprivate(set) var due: MonotonicTime
    /// Whether it was acknowledged or replaced, so that it is not written.
    fileprivate(set) var isGone = false
    /// Whether the device acknowledged it while the notifications that it replaces are still on the disk.
    var isAcknowledged = false
    /// Whether its provider already received the answer that it is accepted.
    var isAnswered = false

    init(
        _ pending: PendingNotification, _ collapse: CollapseHash, of queue: DeviceQueue, answer: ReplyAddress,
        due: MonotonicTime, replaced: [Replaced]
    ) {
        self.pending = pending
        self.collapse = collapse
        self.queue = queue
        self.answer = answer
        self.due = due
        self.replaced = replaced
    }
}

/// The selection of pending writes for a transaction: those due by a time, or only one of them.
struct Due {
    var moment: MonotonicTime
    var sequence: Int64?

    static var all: Due { Due(moment: .future) }

    func contains(_ write: PendingWrite) -> Bool {
        guard !write.isGone, write.due <= moment else { return false }
        return sequence == nil || write.pending.sequence == sequence
    }
}

/// The pending writes, in the order of their sequences.
///
/// Except for urgent ones, an older write has no later deadline than a newer one.
struct PendingWriteQueue {
    private var entries: [PendingWrite] = []
    /// The index of the first entry to write.
    ///
    /// Earlier entries are freed once they are many.
    private var head = 0
    /// The number of urgent writes, which are due immediately.
    private var urgentCount = 0
    /// The latest deadline of all writes so far.
    ///
    /// The deadline of a new non-urgent write is not earlier.
    private(set) var lastDue = MonotonicTime.past

    /// All entries from the first one to write; later ones may be marked as gone.
    var all: ArraySlice<PendingWrite> { entries[head...] }

    /// The first entry that is neither on the disk nor gone.
    var first: PendingWrite? { head < entries.count ? entries[head] : nil }

    /// An upper bound of the number of pending writes; it includes gone entries that are not freed.
    var count: Int { entries.count - head }

    mutating func append(_ write: PendingWrite) {
        entries.append(write)
        lastDue = max(lastDue, write.due)
        if write.due == .past { urgentCount += 1 }
    }

    /// Expedites a write: makes it due immediately.
    mutating func expedite(_ write: PendingWrite) {
        guard !write.isGone, write.due != .past else { return }
        write.due = .past
        urgentCount += 1
    }

    /// Expedites all pending writes for a device.
    mutating func expedite(_ device: DeviceID) {
        for write in all where write.pending.notification.address.device == device { expedite(write) }
    }

    /// Marks a write as gone, because the notification was acknowledged or replaced.
    mutating func markGone(_ write: PendingWrite) {
        guard !write.isGone else { return }
        write.isGone = true
        if write.due == .past { urgentCount -= 1 }
        skipGone()
    }

    /// Removes the entries that are gone, and those that were due, which are written.
    mutating func remove(_ due: Due) {
        entries.removeAll { $0.isGone || due.contains($0) }
        head = 0
        urgentCount = entries.count { $0.due == .past }
    }

    /// Returns the sequences of the selected writes.
    func sequences(_ due: Due) -> [Int64] { all.filter(due.contains).map(\.pending.sequence) }

    /// The deadline of the first write; nil without any.
    var nextDue: MonotonicTime? { urgentCount > 0 ? .past : first?.due }

    private mutating func skipGone() {
        while head < entries.count, entries[head].isGone { head += 1 }
        if head == entries.count {
            entries.removeAll(keepingCapacity: head <= WriterLimits.commandsPerTransactionCountMax)
            head = 0
        } else if head >= WriterLimits.commandsPerTransactionCountMax, head >= entries.count / 2 {
            entries.removeFirst(head)
            head = 0
        }
    }
}
