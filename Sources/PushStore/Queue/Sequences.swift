// SPDX-License-Identifier: Apache-2.0

/// The numbers of notifications, ascending and never given out twice, over any end of the server.
///
/// Devices get numbers that are on no disk yet. So the file does not hold the last number but one that lies ahead, up to
/// which numbers may be given out; a start goes on behind it.
final class Sequences {
    /// The last number that was given out.
    private(set) var last: Int64
    /// The last one that may be given out.
    private var reserved: Int64
    private var requested: Int64?

    /// Goes on behind what the file holds.
    init(stored: Int64) {
        last = stored
        reserved = stored
    }

    /// The next number; nil when the disk gave none.
    func next() -> Int64? {
        guard last < reserved else { return nil }
        last += 1
        return last
    }

    /// Whether numbers run out.
    var isShort: Bool { reserved - last < WriterLimits.sequenceBlock / 2 }

    /// What the file must hold after a transaction; nil when nothing changes.
    func reservation(isClosing: Bool) -> Int64? {
        guard isShort || isClosing else { return nil }
        requested = isClosing ? last : last + WriterLimits.sequenceBlock
        return requested
    }

    /// Notes that the transaction is committed, or is not.
    func end(isCommitted: Bool) {
        if isCommitted, let requested { reserved = requested }
        requested = nil
    }
}
