// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The time of shard 0 as this node knows it: between two bounds.
///
/// The shard reads its clock between a question and its answer, so each answer bounds the difference between its clock
/// and this machine's monotonic clock on both sides. The bounds of several answers together are close.
struct ShardClock {
    /// The greatest rate by which two clocks drift apart, in microseconds a second.
    private static let driftMicroseconds: Int64 = 500
    /// The time in microseconds by which the clock can be set forward without making heartbeats look too old.
    private static let forwardMicroseconds: Int64 = 1_000_000

    /// The bounds of the shard's UNIX time minus this machine's monotonic time, in microseconds.
    private struct Bounds {
        var least: Int64
        var most: Int64
        var at: MonotonicTime

        /// Returns bounds that are still valid later.
        func widened(until moment: MonotonicTime) -> Bounds {
            let drift = moment.microseconds(since: at) * ShardClock.driftMicroseconds / 1_000_000
            return Bounds(least: least - drift, most: most + drift, at: moment)
        }
    }

    private var bounds: Bounds?
    /// The bounds before each time that the shard's clock was set, with the end of the time for which other nodes may use
    /// such bounds.
    private var former: [(bounds: Bounds, end: MonotonicTime)] = []

    /// Whether the shard has answered once.
    var isKnown: Bool { bounds != nil }

    /// Takes the answer to a heartbeat into account.
    ///
    /// - Parameters:
    ///   - time: The shard's UNIX time in microseconds, read between question and answer.
    ///   - asked: The time of the question on this machine.
    ///   - answered: The time of the answer on this machine.
    mutating func add(_ time: Int64, asked: MonotonicTime, answered: MonotonicTime) {
        guard !refine(time, asked: asked, answered: answered) else { return }
        // This is the first answer, or the shard's clock was set, or another machine is the primary now. The other
        // nodes notice this with their next heartbeats, or their leases end.
        former.removeAll { $0.end <= answered }
        if let bounds {
            former.append((bounds, answered.advanced(byMilliseconds: NodeConfiguration.leaseMilliseconds)))
        }
        bounds = Self.bounds(time, asked: asked, answered: answered)
    }

    /// Takes another answer into account, unless the shard's clock was set since the last answer.
    ///
    /// - Parameters:
    ///   - time: As for `add`.
    ///   - asked: As for `add`.
    ///   - answered: As for `add`.
    /// - Returns: Whether the answer agrees with the earlier ones.
    mutating func refine(_ time: Int64, asked: MonotonicTime, answered: MonotonicTime) -> Bool {
        let new = Self.bounds(time, asked: asked, answered: answered)
        guard let old = bounds?.widened(until: answered), new.least <= old.most, old.least <= new.most else {
            return false
        }
        bounds = Bounds(least: max(new.least, old.least), most: min(new.most, old.most), at: answered)
        return true
    }

    /// Returns whether the shard's clock was set forward in the last three seconds, so that earlier times look too old.
    func wasSetForward(at moment: MonotonicTime) -> Bool {
        guard let bounds else { return false }
        return former.contains {
            moment < $0.end && bounds.least - $0.bounds.most > Self.forwardMicroseconds
        }
    }

    private static func bounds(_ time: Int64, asked: MonotonicTime, answered: MonotonicTime) -> Bounds {
        Bounds(
            least: time - answered.nanoseconds / 1_000 - 1, most: time - asked.nanoseconds / 1_000 + 1, at: answered)
    }

    /// Returns the latest UNIX time in microseconds that the shard's clock may show; 0 before the first answer.
    func latest(at moment: MonotonicTime) -> Int64 {
        guard let bounds = bounds?.widened(until: moment) else { return 0 }
        return bounds.most + moment.nanoseconds / 1_000
    }

    /// Returns the time from which every node knows that the shard's clock has reached a UNIX time in microseconds;
    /// `future` before the first answer.
    func passes(_ time: Int64, after moment: MonotonicTime) -> MonotonicTime {
        guard let bounds else { return .future }
        var due = Self.passes(time, bounds, after: moment)
        // Another node may still use the time from before the shard's clock was set.
        for (bounds, end) in former where moment < end {
            due = max(due, min(Self.passes(time, bounds, after: moment), end))
        }
        return due
    }

    private static func passes(_ time: Int64, _ bounds: Bounds, after moment: MonotonicTime) -> MonotonicTime {
        let left = time - (bounds.widened(until: moment).least + moment.nanoseconds / 1_000)
        return left <= 0 ? moment : moment.advanced(byNanoseconds: left * 1_000)
    }
}

extension MonotonicTime {
    /// Returns the microseconds since an earlier time, rounded down.
    fileprivate func microseconds(since earlier: MonotonicTime) -> Int64 { nanoseconds(since: earlier) / 1_000 }
}
