// SPDX-License-Identifier: Apache-2.0

import PushNet
import Synchronization
import Testing

@testable import PushServing

@Suite struct TokenBucketTests {
    private static let second: Int64 = 1_000_000_000

    /// A bucket with its state and a manual clock.
    private final class Sender {
        let bucket: TokenBucket
        var fullAt = MonotonicTime.past
        var now = MonotonicTime.past.advanced(bySeconds: 77)

        init(_ bucket: TokenBucket) { self.bucket = bucket }

        func wait(nanoseconds: Int64) { now = now.advanced(byNanoseconds: nanoseconds) }

        /// Takes one token, and returns nil, or the nanoseconds to wait.
        func send() -> Int64? {
            switch bucket.take(fullAt: fullAt, now: now) {
            case .taken(let next):
                fullAt = next
                return nil
            case .refused(let wait): return wait
            }
        }

        /// Returns how many of `count` tokens are available now.
        func taken(of count: Int) -> Int { (0..<count).count { _ in send() == nil } }
    }

    @Test(
        arguments: [(1, 1), (10, 1), (10, 10), (10, 25), (1, 100), (1_000_000, 1_000_000), (3, 7)] as [(Int64, Int64)])
    func `a full bucket permits its burst, and then a token each time that the wait is over`(rate: Int64, burst: Int64)
    {
        let sender = Sender(TokenBucket(of: burst, refilledBy: rate))
        #expect(sender.taken(of: Int(burst) + 5) == Int(burst))
        for _ in 0..<10 {
            guard let wait = sender.send() else {
                Issue.record("an empty bucket gave a token")
                return
            }
            #expect(wait > 0 && wait <= Self.second / rate)
            sender.wait(nanoseconds: wait - 1)
            #expect(sender.send() != nil, "a moment too early")
            sender.wait(nanoseconds: 1)
            #expect(sender.send() == nil, "the wait is over")
        }
    }

    @Test func `no interval admits more than the burst and the rate allow`() {
        var generator = SystemRandomNumberGenerator()
        let sender = Sender(TokenBucket(of: 20, refilledBy: 10))
        let start = sender.now
        var taken = 0
        for _ in 0..<5000 {
            sender.wait(nanoseconds: Int64.random(in: 0...Self.second / 5, using: &generator))
            if sender.send() == nil { taken += 1 }
            #expect(taken <= 20 + Int(sender.now.nanoseconds(since: start) * 10 / Self.second))
        }
        #expect(taken > 1000, "it continues")
    }

    @Test func `a sender within the rate is never refused`() {
        let sender = Sender(TokenBucket(of: 1, refilledBy: 7))
        for _ in 0..<1000 {
            #expect(sender.send() == nil)
            sender.wait(nanoseconds: Self.second / 7)
        }
    }

    @Test func `a bucket reports its remaining tokens, and when it is full`() {
        let sender = Sender(TokenBucket(of: 5, refilledBy: 2))
        #expect(sender.bucket.remainingCount(fullAt: sender.fullAt, now: sender.now) == 5)
        #expect(sender.taken(of: 3) == 3)
        #expect(sender.bucket.remainingCount(fullAt: sender.fullAt, now: sender.now) == 2)
        sender.wait(nanoseconds: Self.second / 2 - 1)
        #expect(sender.bucket.remainingCount(fullAt: sender.fullAt, now: sender.now) == 2)
        sender.wait(nanoseconds: 1)
        #expect(sender.bucket.remainingCount(fullAt: sender.fullAt, now: sender.now) == 3)
        #expect(sender.bucket.outNanoseconds(sender.fullAt, sender.now) == Self.second)
    }

    @Test func `a clock that moves back blocks no sender for longer than an empty bucket does`() {
        let sender = Sender(TokenBucket(of: 10, refilledBy: 10))
        #expect(sender.taken(of: 20) == 10)
        sender.wait(nanoseconds: -50 * Self.second)
        #expect(sender.send() == Self.second / 10)
        sender.wait(nanoseconds: Self.second / 10)
        sender.fullAt = min(sender.fullAt, sender.now.advanced(bySeconds: 1))
        #expect(sender.bucket.remainingCount(fullAt: MonotonicTime(nanoseconds: .max / 2), now: sender.now) == 0)
        sender.wait(nanoseconds: Self.second)
        #expect(sender.taken(of: 20) == 10)
        sender.wait(nanoseconds: 1_000_000 * Self.second)
        #expect(sender.taken(of: 20) == 10, "a clock that jumps ahead fills it, once")
    }

    @Test func `an hourly bucket permits all tokens at once and refills evenly`() {
        let sender = Sender(TokenBucket(of: 60, refilledBy: 60, inSeconds: 3600))
        #expect(sender.taken(of: 100) == 60)
        #expect(sender.send() == 60 * Self.second)
        sender.wait(nanoseconds: 1800 * Self.second)
        #expect(sender.taken(of: 100) == 30)
    }

    /// A bucket that several threads share.
    private final class Shared: Sendable {
        let fullAt = Atomic<Int64>(0)
        let taken = Atomic<Int>(0)
    }

    @Test func `threads that share a bucket take exactly its tokens`() {
        let bucket = TokenBucket(of: 10_000, refilledBy: 1)
        let shared = Shared()
        let now = MonotonicTime(nanoseconds: 5)
        let threads = (0..<4).map { number in
            Thread(name: "taker-\(number)") {
                for _ in 0..<5000 where bucket.take(from: shared.fullAt, now: now) == nil {
                    shared.taken.wrappingAdd(1, ordering: .relaxed)
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(shared.taken.load(ordering: .relaxed) == 10_000)
        #expect(bucket.take(from: shared.fullAt, now: now) != nil)
        bucket.refund(to: shared.fullAt)
        #expect(bucket.take(from: shared.fullAt, now: now) == nil, "what was given back can be taken again")
        #expect(bucket.take(from: shared.fullAt, now: now) != nil)
    }
}
