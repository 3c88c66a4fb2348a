// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The ascending numbers of notifications, which are never assigned twice, even after a crash.
///
/// Devices receive numbers that are not on the disk yet. The file therefore holds an upper limit, up to which numbers
/// may be assigned, instead of the last number. After a restart, numbers continue above that limit. Every thread may
/// take numbers; only the writer's thread extends the limit.
final class Sequences: NotificationNumbers, Sendable {
    private let lastAssigned: Atomic<Int64>
    /// The last number that may be assigned.
    private let reserved: Atomic<Int64>
    /// The limit that the current transaction writes; 0 for none.
    private let requested = Atomic<Int64>(0)

    /// Continues after the limit that the file holds.
    init(stored: Int64) {
        lastAssigned = Atomic(stored)
        reserved = Atomic(stored)
    }

    /// The last assigned number.
    var last: Int64 { lastAssigned.load(ordering: .acquiring) }

    /// Returns the next number; nil if the reserved block is used up, because the disk failed to extend it.
    func next() -> Int64? {
        var last = last
        while last < reserved.load(ordering: .acquiring) {
            let result = lastAssigned.compareExchange(
                expected: last, desired: last + 1, ordering: .acquiringAndReleasing)
            if result.exchanged { return last + 1 }
            last = result.original
        }
        return nil
    }

    /// Whether the reserved block is more than half used.
    var isShort: Bool { reserved.load(ordering: .relaxed) - last < WriterLimits.sequenceBlock / 2 }

    /// Returns the limit to write with a transaction; nil if it does not change.
    func reservation(isClosing: Bool) -> Int64? {
        guard isShort || isClosing else { return nil }
        let limit = isClosing ? last : last + WriterLimits.sequenceBlock
        requested.store(limit, ordering: .relaxed)
        return limit
    }

    /// Records whether the transaction was committed.
    func end(isCommitted: Bool) {
        let limit = requested.exchange(0, ordering: .relaxed)
        if isCommitted, limit > 0 { reserved.store(limit, ordering: .releasing) }
    }
}
