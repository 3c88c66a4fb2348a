// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A notification whose provider has no answer yet: it is neither on the disk nor acknowledged.
struct Unwritten {
    let pending: PendingNotification
    let collapse: CollapseHash
    let answer: ReplyAddress
    /// When it is written at the latest; in the past for one that waits for nothing.
    var due: MonotonicTime
    /// What it takes the place of once it is accepted.
    var replaced: [Replaced] = []
    /// Its device has it, but what it replaces is still on the disk.
    var isAcknowledged = false
    /// Its provider was told that it is accepted.
    var isAnswered = false
    /// It was acknowledged or replaced, and is left out.
    var isGone = false

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
struct UnwrittenQueue {
    private(set) var all: [Unwritten] = []
    private var goneCount = 0

    var isEmpty: Bool { all.count == goneCount }

    mutating func append(_ unwritten: Unwritten) { all.append(unwritten) }

    /// Changes the one with a sequence, if it is here.
    mutating func change(_ sequence: Int64, _ body: (inout Unwritten) -> Void) {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = low + (high - low) / 2
            if all[middle].pending.sequence < sequence { low = middle + 1 } else { high = middle }
        }
        guard low < all.count, all[low].pending.sequence == sequence, !all[low].isGone else { return }
        body(&all[low])
        if all[low].isGone { goneCount += 1 }
    }

    /// Has all of a device written at once.
    mutating func hurry(_ device: DeviceID) {
        for index in all.indices where all[index].pending.notification.address.device == device {
            all[index].due = .past
        }
    }

    /// Forgets those that are gone, and those that are due: they were dealt with.
    mutating func remove(_ due: Due) {
        all.removeAll { $0.isGone || due.contains($0) }
        goneCount = 0
    }

    /// The sequences of those that are due.
    func sequences(_ due: Due) -> [Int64] { all.filter(due.contains).map(\.pending.sequence) }

    /// When the first one is due; nil without any.
    var nextDue: MonotonicTime? {
        var next: MonotonicTime?
        for unwritten in all where !unwritten.isGone { next = min(next ?? unwritten.due, unwritten.due) }
        return next
    }
}
