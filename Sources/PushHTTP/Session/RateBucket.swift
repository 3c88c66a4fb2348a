// SPDX-License-Identifier: Apache-2.0

/// Limits the rate of an event that may occur in bursts: full at first, refilled at a steady rate.
struct RateBucket {
    private let capacity: Int
    private let refillPerSecond: Int
    private var available: Int
    /// The time up to which `available` was refilled.
    private var refilledNanoseconds: UInt64 = 0

    private static let nanosecondsPerSecond: UInt64 = 1_000_000_000

    init(capacity: Int, refillPerSecond: Int) {
        precondition(capacity > 0 && refillPerSecond > 0, "a bucket without capacity")
        self.capacity = capacity
        self.refillPerSecond = refillPerSecond
        available = capacity
    }

    /// Removes tokens from the bucket.
    ///
    /// - Parameters:
    ///   - count: The number of tokens; not negative.
    ///   - nowNanoseconds: The monotonic time; a value before an earlier one refills nothing.
    /// - Returns: Whether there were enough tokens; if not, the bucket is now empty.
    mutating func spend(_ count: Int, nowNanoseconds: UInt64) -> Bool {
        guard count > 0 else { return true }
        refill(nowNanoseconds: nowNanoseconds)
        guard count <= available else {
            available = 0
            return false
        }
        available -= count
        return true
    }

    private mutating func refill(nowNanoseconds: UInt64) {
        guard nowNanoseconds > refilledNanoseconds else { return }
        let nanosecondsPerToken = Self.nanosecondsPerSecond / UInt64(refillPerSecond)
        let earned = (nowNanoseconds - refilledNanoseconds) / nanosecondsPerToken
        if earned >= UInt64(capacity - available) {
            available = capacity
            refilledNanoseconds = nowNanoseconds
        } else {
            available += Int(earned)
            refilledNanoseconds += earned * nanosecondsPerToken
        }
    }
}
