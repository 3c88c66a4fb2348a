// SPDX-License-Identifier: Apache-2.0

/// The ascending numbers of notifications, which are never assigned twice, even after a crash.
///
/// Devices receive numbers that are not on the disk yet. The file therefore holds an upper limit, up to which numbers
/// may be assigned, instead of the last number. After a restart, numbers continue above that limit.
final class Sequences {
    /// The last assigned number.
    private(set) var last: Int64
    /// The last number that may be assigned.
    private var reserved: Int64
    private var requested: Int64?

    /// Continues after the limit that the file holds.
    init(stored: Int64) {
        last = stored
        reserved = stored
    }

    /// Returns the next number; nil if the reserved block is used up, because the disk failed to extend it.
    func next() -> Int64? {
        guard last < reserved else { return nil }
        last += 1
        return last
    }

    /// Whether the reserved block is more than half used.
    var isShort: Bool { reserved - last < WriterLimits.sequenceBlock / 2 }

    /// Returns the limit to write with a transaction; nil if it does not change.
    func reservation(isClosing: Bool) -> Int64? {
        guard isShort || isClosing else { return nil }
        requested = isClosing ? last : last + WriterLimits.sequenceBlock
        return requested
    }

    /// Records whether the transaction was committed.
    func end(isCommitted: Bool) {
        if isCommitted, let requested { reserved = requested }
        requested = nil
    }
}
