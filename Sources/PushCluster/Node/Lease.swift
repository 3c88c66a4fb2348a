// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The time for which a node may rely on what it knows of a shard: three seconds from the sending of a heartbeat that
/// the shard has answered.
///
/// Without a lease, a node accepts nothing for devices of the shard and delivers nothing to them.
struct Lease {
    /// The sending time of the last heartbeat that was answered.
    private(set) var renewedAt: MonotonicTime?
    private let durationMilliseconds: Int64

    init(durationMilliseconds: Int64) { self.durationMilliseconds = durationMilliseconds }

    /// Renews the lease with the answer to a heartbeat.
    mutating func renew(sentAt moment: MonotonicTime) { renewedAt = max(renewedAt ?? moment, moment) }

    /// The end of the lease; `past` before the first heartbeat.
    var end: MonotonicTime { renewedAt?.advanced(byMilliseconds: durationMilliseconds) ?? .past }

    /// Returns whether a lease that began at one moment has ended at another.
    func isOver(from begin: MonotonicTime, at moment: MonotonicTime) -> Bool {
        moment >= begin.advanced(byMilliseconds: durationMilliseconds)
    }

    func isValid(at moment: MonotonicTime) -> Bool { moment < end }
}
