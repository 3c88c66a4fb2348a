// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The versions of the control data that a node knows and uses.
///
/// A change of control data is answered when all nodes use it, or after the time of a lease. So a node accepts
/// notifications only while it may use its version: for the time of a lease after it sent a heartbeat whose answer
/// named no newer version.
struct ControlVersions {
    /// The control data that a provider was checked with.
    struct Check {
        /// The version that the provider's loop used.
        fileprivate let version: Int64
        /// Whether the node might use this version when the request arrived.
        fileprivate let wasCurrent: Bool
    }

    /// The highest version that PostgreSQL or another node has named.
    private(set) var known: Int64 = 0
    /// The highest version that the node has read.
    private var used: Int64 = 0
    /// The last version in which data for checks of notifications changed.
    ///
    /// A move of slots raises the version without such a change.
    private var changed: Int64 = 0
    /// The last such version before `changed`, and the time until which the node might use it.
    private var former: (changed: Int64, end: MonotonicTime) = (0, .past)
    /// The time for which the node may use its version.
    private var lease: Lease
    /// The heartbeats that named versions which the node has not read, in the order of time.
    private var unread: [(version: Int64, sentAt: MonotonicTime)] = []
    /// Whether the node might use its version at the last call of `becameCurrent`.
    private var wereCurrent = false
    /// The version that each loop uses for its checks.
    private var loops: [UInt32: Int64] = [:]

    init(leaseMilliseconds: Int64) { lease = Lease(durationMilliseconds: leaseMilliseconds) }

    // MARK: Reading

    /// Records that a version exists.
    mutating func note(_ version: Int64) { known = max(known, version) }

    /// Records the version that the answer to a heartbeat named as the newest one.
    mutating func note(_ version: Int64, inHeartbeatSentAt moment: MonotonicTime) {
        note(version)
        guard version > used else { return lease.renew(sentAt: moment) }
        unread.removeAll { $0.version == version || lease.isOver(from: $0.sentAt, at: moment) }
        unread.append((version, moment))
    }

    /// Records that the node uses a version.
    ///
    /// - Parameters:
    ///   - version: The version.
    ///   - changed: The last version in which data for checks changed.
    mutating func use(_ version: Int64, changed: Int64) {
        note(version)
        used = max(used, version)
        if changed > self.changed {
            former = (self.changed, lease.end)
            self.changed = changed
        }
        for heartbeat in unread where heartbeat.version <= used { lease.renew(sentAt: heartbeat.sentAt) }
        unread.removeAll { $0.version <= used }
    }

    /// Records that a loop checks providers with a version from now on.
    mutating func use(_ version: Int64, onLoop loop: UInt32) { loops[loop] = version }

    // MARK: Checks

    /// Returns whether the node may use its version.
    func areCurrent(at moment: MonotonicTime) -> Bool { lease.isValid(at: moment) }

    /// Returns whether the node may use its version now, and might not at the last call.
    mutating func becameCurrent(at moment: MonotonicTime) -> Bool {
        defer { wereCurrent = areCurrent(at: moment) }
        return !wereCurrent && areCurrent(at: moment)
    }

    /// Returns the control data with which a loop has checked a request that arrives now.
    func check(byLoop loop: UInt32, at moment: MonotonicTime) -> Check {
        // A loop without a version has no directory and checks nothing.
        let version = loops[loop] ?? used
        let end = version >= changed ? lease.end : version >= former.changed ? former.end : .past
        return Check(version: version, wasCurrent: moment < end)
    }

    /// Returns whether the check of a request still counts.
    ///
    /// A recent change that is not answered yet need not apply to the request.
    ///
    /// - Parameters:
    ///   - check: The check when the request arrived.
    ///   - isRecent: Whether the request arrived less than the time of a lease ago.
    /// - Returns: Whether the newest data have the same result, or need not apply.
    func allow(_ check: Check, isRecent: Bool) -> Bool { changed <= check.version || isRecent && check.wasCurrent }
}
