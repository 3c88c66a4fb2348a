// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Limits the rate of an event that may occur in bursts: full at first, refilled at a steady rate.
struct RateBucket {
    /// The size and the rate, which all sessions share.
    struct Limit {
        fileprivate let capacity: Int
        fileprivate let nanosecondsPerToken: Int64

        init(capacity: Int, refillPerSecond: Int) {
            precondition(capacity > 0 && refillPerSecond > 0, "a bucket without capacity")
            self.capacity = capacity
            nanosecondsPerToken = 1_000_000_000 / Int64(refillPerSecond)
        }
    }

    private var available: Int
    /// The time up to which `available` was refilled.
    private var refilledAt = MonotonicTime.past

    /// Creates a full bucket.
    init(_ limit: Limit) { available = limit.capacity }

    /// Removes tokens from the bucket.
    ///
    /// - Parameters:
    ///   - count: The number of tokens; not negative.
    ///   - limit: The limit with which the bucket was created.
    ///   - now: The current time; a time before an earlier one refills nothing.
    /// - Returns: Whether there were enough tokens; if not, the bucket is now empty.
    mutating func spend(_ count: Int, of limit: Limit, now: MonotonicTime) -> Bool {
        guard count > 0 else { return true }
        refill(limit, now: now)
        guard count <= available else {
            available = 0
            return false
        }
        available -= count
        return true
    }

    private mutating func refill(_ limit: Limit, now: MonotonicTime) {
        guard now > refilledAt else { return }
        let earned = now.nanoseconds(since: refilledAt) / limit.nanosecondsPerToken
        if earned >= Int64(limit.capacity - available) {
            available = limit.capacity
            refilledAt = now
        } else {
            available += Int(earned)
            refilledAt = refilledAt.advanced(byNanoseconds: earned * limit.nanosecondsPerToken)
        }
    }
}

extension RateBucket.Limit {
    /// Frames that cost their sender nothing.
    static let glitches = RateBucket.Limit(
        capacity: HTTPBounds.glitchCountMax, refillPerSecond: HTTPBounds.glitchCountPerSecond)
    /// Streams that the peer made us reset.
    static let sentResets = RateBucket.Limit(
        capacity: HTTPBounds.sentResetCountMax, refillPerSecond: HTTPBounds.sentResetCountPerSecond)
}
