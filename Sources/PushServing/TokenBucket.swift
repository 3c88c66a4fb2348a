// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import Synchronization

/// A token bucket: each request takes a token, and tokens return at a steady rate until the bucket is full.
///
/// Its state is one number, the time at which the bucket is full again. A request moves that time forward by the time
/// in which one token returns. It is refused if the new time is further away than an empty bucket takes to fill.
///
/// ```
///      now             full again                    now + capacity
/// ──────┼───────────────────┼──────────┬──────────────────┼──────▶
///        tokens that are out │ this one │   tokens left    │
/// ```
/// - SeeAlso: ITU-T I.371, the generic cell rate algorithm.
package struct TokenBucket: Equatable, Sendable {
    /// The time in which one token returns.
    package let tokenNanoseconds: Int64
    /// The size of the bucket in tokens.
    package let tokenCount: Int64
    /// The time in which an empty bucket fills.
    private let capacityNanoseconds: Int64

    /// Creates a bucket from its size and refill rate.
    ///
    /// - Parameters:
    ///   - tokenCount: The size of the bucket in tokens, at least 1.
    ///   - refillCount: The number of tokens that return in `seconds`, at least 1.
    ///   - seconds: The refill period, at most an hour, so that nothing overflows.
    package init(of tokenCount: Int64, refilledBy refillCount: Int64, inSeconds seconds: Int64 = 1) {
        precondition(tokenCount > 0 && refillCount > 0, "a bucket without tokens would refuse everything")
        self.tokenCount = tokenCount
        tokenNanoseconds = max(1, seconds * 1_000_000_000 / refillCount)
        capacityNanoseconds = tokenNanoseconds * tokenCount
    }

    /// The result of a request.
    package enum TakeResult: Equatable {
        case taken(fullAt: MonotonicTime)
        case refused(waitNanoseconds: Int64)
    }

    /// Computes the state after tokens are taken.
    ///
    /// - Parameters:
    ///   - count: The number of tokens. A number above the bucket's size counts as all of them.
    ///   - fullAt: The time at which the bucket is full again; a time in the past means that it is full. A time that is
    ///     too far away, as after a change of the rate, counts as an empty bucket.
    ///   - now: The current time.
    /// - Returns: The new time at which the bucket is full, or the time until enough tokens have returned.
    package func take(_ count: Int64 = 1, fullAt: MonotonicTime, now: MonotonicTime) -> TakeResult {
        let next = outNanoseconds(fullAt, now) + tokenNanoseconds * min(count, tokenCount)
        let excess = next - capacityNanoseconds
        return excess <= 0 ? .taken(fullAt: now.advanced(byNanoseconds: next)) : .refused(waitNanoseconds: excess)
    }

    /// Returns the number of remaining tokens.
    package func remainingCount(fullAt: MonotonicTime, now: MonotonicTime) -> Int64 {
        (capacityNanoseconds - outNanoseconds(fullAt, now)) / tokenNanoseconds
    }

    /// Returns the time until all tokens have returned.
    func outNanoseconds(_ fullAt: MonotonicTime, _ now: MonotonicTime) -> Int64 {
        min(max(0, fullAt.nanoseconds(since: now)), capacityNanoseconds)
    }
}

// MARK: Shared by loops

extension TokenBucket {
    /// Takes tokens from a bucket that others use too, but never more than it has.
    ///
    /// - Parameters:
    ///   - count: The number of tokens. A number above the bucket's size counts as all of them.
    ///   - fullAt: The shared state, in nanoseconds of `MonotonicTime`. Relaxed ordering suffices, because no other
    ///     data depends on it.
    ///   - now: The current time.
    /// - Returns: Nil, or the nanoseconds to wait.
    package func take(_ count: Int64 = 1, from fullAt: borrowing Atomic<Int64>, now: MonotonicTime) -> Int64? {
        var known = fullAt.load(ordering: .relaxed)
        while true {
            switch take(count, fullAt: MonotonicTime(nanoseconds: known), now: now) {
            case .refused(let wait): return wait
            case .taken(let next):
                let (isDone, found) = fullAt.weakCompareExchange(
                    expected: known, desired: next.nanoseconds, ordering: .relaxed)
                if isDone { return nil }
                known = found
            }
        }
    }

    /// Takes tokens that were granted elsewhere, down to an empty bucket.
    ///
    /// - Parameters:
    ///   - count: The number of tokens, at least 0.
    ///   - fullAt: The shared state; see `take(_:from:now:)`.
    ///   - now: The current time.
    package func charge(_ count: Int64, to fullAt: borrowing Atomic<Int64>, now: MonotonicTime) {
        guard count > 0 else { return }
        var known = fullAt.load(ordering: .relaxed)
        while true {
            let (charged, overflow) = tokenNanoseconds.multipliedReportingOverflow(by: min(count, tokenCount))
            let added = overflow ? capacityNanoseconds : charged
            let out = outNanoseconds(MonotonicTime(nanoseconds: known), now) + added
            let next = now.advanced(byNanoseconds: min(out, capacityNanoseconds))
            let (isDone, found) = fullAt.weakCompareExchange(
                expected: known, desired: next.nanoseconds, ordering: .relaxed)
            if isDone { return }
            known = found
        }
    }

    /// Puts back a token that was just taken.
    package func refund(to fullAt: borrowing Atomic<Int64>) {
        fullAt.wrappingSubtract(tokenNanoseconds, ordering: .relaxed)
    }
}
