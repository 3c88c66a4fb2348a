// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A notification whose provider has no answer yet: it is neither on the disk nor acknowledged.
final class Unwritten {
    /// What a newer one pushed out.
    struct Replaced {
        var entry: QueueEntry
        var isSettled: Bool
        /// Who waits for its answer, or had it, if it was not written either.
        var older: (answer: ReplyAddress, isAnswered: Bool)?
        var removal: Tally.Removal
        /// Why, for the trace.
        var detail: TraceDetail
    }

    let pending: PendingNotification
    let collapse: CollapseHash
    let answer: ReplyAddress
    /// Its device's card, which stays as long as this is in its queue.
    let card: DeviceCard
    /// What it takes the place of once it is accepted.
    let replaced: [Replaced]
    /// When it is written at the latest; in the past for one that waits for nothing.
    fileprivate(set) var due: MonotonicTime
    /// It was acknowledged or replaced, and is left out.
    fileprivate(set) var isGone = false
    /// Its device has it, but what it replaces is still on the disk.
    var isAcknowledged = false
    /// Its provider was told that it is accepted.
    var isAnswered = false

    /// Joins the parts.
    init(
        _ pending: PendingNotification, _ collapse: CollapseHash, of card: DeviceCard, answer: ReplyAddress,
        due: MonotonicTime, replaced: [Replaced]
    ) {
        self.pending = pending
        self.collapse = collapse
        self.card = card
        self.answer = answer
        self.due = due
        self.replaced = replaced
    }
}

/// Which of the unwritten ones a transaction writes: those that are due by a moment, or one.
struct Due {
    var moment: MonotonicTime
    var sequence: Int64?

    /// All of them.
    static var all: Due { Due(moment: .future) }

    func contains(_ unwritten: Unwritten) -> Bool {
        guard !unwritten.isGone, unwritten.due <= moment else { return false }
        return sequence == nil || unwritten.pending.sequence == sequence
    }
}

/// The unwritten ones, in order of their sequences.
///
/// Of those that wait for something, an older one is due no later than a newer one.
struct UnwrittenQueue {
    private var entries: [Unwritten] = []
    /// Where the first one is that is not gone; what is before it is forgotten when there is much of it.
    private var head = 0
    /// How many are due at any time, and not gone.
    private var hastyCount = 0
    /// When the last one is due, or was; a new one that waits is due no earlier.
    private(set) var lastDue = MonotonicTime.past

    /// All from the first one that is not gone; others may be.
    var all: ArraySlice<Unwritten> { entries[head...] }

    /// The first one that is neither on the disk nor gone.
    var first: Unwritten? { head < entries.count ? entries[head] : nil }

    /// How many they are, or somewhat more: those between them that are gone count.
    var count: Int { entries.count - head }

    mutating func append(_ unwritten: Unwritten) {
        entries.append(unwritten)
        lastDue = max(lastDue, unwritten.due)
        if unwritten.due == .past { hastyCount += 1 }
    }

    /// Has one written at once.
    mutating func hurry(_ unwritten: Unwritten) {
        guard !unwritten.isGone, unwritten.due != .past else { return }
        unwritten.due = .past
        hastyCount += 1
    }

    /// Has all of a device written at once.
    mutating func hurry(_ device: DeviceID) {
        for unwritten in all where unwritten.pending.notification.address.device == device { hurry(unwritten) }
    }

    /// Leaves one out, which was acknowledged or replaced.
    mutating func leaveOut(_ unwritten: Unwritten) {
        guard !unwritten.isGone else { return }
        unwritten.isGone = true
        if unwritten.due == .past { hastyCount -= 1 }
        skipGone()
    }

    /// Forgets those that are gone, and those that are due: they were dealt with.
    mutating func remove(_ due: Due) {
        entries.removeAll { $0.isGone || due.contains($0) }
        head = 0
        hastyCount = entries.count { $0.due == .past }
    }

    /// The sequences of those that are due.
    func sequences(_ due: Due) -> [Int64] { all.filter(due.contains).map(\.pending.sequence) }

    /// When the first one is due; nil without any.
    var nextDue: MonotonicTime? { hastyCount > 0 ? .past : first?.due }

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
