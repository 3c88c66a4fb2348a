// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A token bucket: each request takes a token, and tokens come back at a steady rate until the bucket is full.
///
/// Its state is one number, the moment at which it is full again: a request moves that moment on by the time in which one
/// token comes back, and is refused when it would lie further off than it takes to fill an empty bucket.
///
/// ```
///      now             full again                    now + capacity
/// ──────┼───────────────────┼──────────┬──────────────────┼──────▶
///        tokens that are out │ this one │   tokens left    │
/// ```
/// - SeeAlso: ITU-T I.371, the generic cell rate algorithm.
struct TokenBucket: Equatable, Sendable {
    /// In which one token comes back.
    private let tokenNanoseconds: Int64
    /// How many tokens there are.
    let tokenCount: Int64
    /// In which an empty bucket fills.
    private let capacityNanoseconds: Int64

    /// Describes a bucket.
    ///
    /// - Parameters:
    ///   - tokenCount: How many tokens there are, at least 1.
    ///   - refillCount: How many come back in `seconds`, at least 1.
    ///   - seconds: At most an hour, so that nothing overflows.
    init(of tokenCount: Int64, refilledBy refillCount: Int64, inSeconds seconds: Int64 = 1) {
        precondition(tokenCount > 0 && refillCount > 0, "a bucket without tokens would refuse everything for ever")
        self.tokenCount = tokenCount
        tokenNanoseconds = max(1, seconds * 1_000_000_000 / refillCount)
        capacityNanoseconds = tokenNanoseconds * tokenCount
    }

    /// What comes of a request.
    enum Taking: Equatable {
        case taken(fullAt: Int64)
        case refused(waitNanoseconds: Int64)
    }

    /// Takes tokens.
    ///
    /// - Parameters:
    ///   - count: How many; more than there are count as all of them.
    ///   - fullAt: When the bucket is full again; the past means that it is. A moment that is too far off, as after a change
    ///     of the rate, counts as an empty bucket.
    ///   - now: Monotonic nanoseconds.
    /// - Returns: When it is full again then, or how long it takes until a token is back.
    func take(_ count: Int64 = 1, fullAt: Int64, now: Int64) -> Taking {
        let next = now + outNanoseconds(fullAt, now) + tokenNanoseconds * min(count, tokenCount)
        let excess = next - now - capacityNanoseconds
        return excess <= 0 ? .taken(fullAt: next) : .refused(waitNanoseconds: excess)
    }

    /// How many tokens are left.
    func remainingCount(fullAt: Int64, now: Int64) -> Int64 {
        (capacityNanoseconds - outNanoseconds(fullAt, now)) / tokenNanoseconds
    }

    /// How long it takes until all tokens are back.
    func outNanoseconds(_ fullAt: Int64, _ now: Int64) -> Int64 { min(max(0, fullAt - now), capacityNanoseconds) }
}

extension TokenBucket {
    /// What to tell of so many tokens that are left.
    func state(remaining: Int64) -> QuotaState {
        let out = (tokenCount - remaining) * tokenNanoseconds
        return QuotaState(
            limit: tokenCount, remaining: remaining, resetSeconds: out == 0 ? 0 : QuotaMoment.seconds(out))
    }
}

// MARK: Shared by loops

extension TokenBucket {
    /// Takes tokens out of a bucket from which others take, too; never one more than there are.
    ///
    /// - Parameters:
    ///   - count: How many; more than there are count as all of them.
    ///   - fullAt: The state, ordered with nothing: it is all there is.
    ///   - now: Monotonic nanoseconds.
    /// - Returns: Nil, or how many nanoseconds to wait.
    func take(_ count: Int64 = 1, from fullAt: borrowing Atomic<Int64>, now: Int64) -> Int64? {
        var known = fullAt.load(ordering: .relaxed)
        while true {
            switch take(count, fullAt: known, now: now) {
            case .refused(let wait): return wait
            case .taken(let next):
                let (isDone, found) = fullAt.weakCompareExchange(expected: known, desired: next, ordering: .relaxed)
                if isDone { return nil }
                known = found
            }
        }
    }

    /// Gives a token back that was just taken.
    func giveBack(to fullAt: borrowing Atomic<Int64>) {
        fullAt.wrappingSubtract(tokenNanoseconds, ordering: .relaxed)
    }
}
