// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

@testable import PushServer

@Suite struct ConnectionDeadlinesTests {
    private static let second: UInt64 = 1_000_000_000
    private static let begin: UInt64 = 5 * second

    private static func after(_ duration: Duration) -> UInt64 { begin + UInt64(duration / .nanoseconds(1)) }

    @Test func `a handshake may take its time and no more`() {
        let deadlines = ConnectionDeadlines(now: Self.begin)
        let limit = Self.after(Limits.handshakePatience)
        #expect(deadlines.verdict(now: limit, isServing: false, openExchangeCount: 0) == .fine)
        #expect(deadlines.verdict(now: limit + 1, isServing: false, openExchangeCount: 0) == .tooSlow("handshake"))
    }

    @Test func `a connection on which nothing is open goes idle`() {
        var deadlines = ConnectionDeadlines(now: 0)
        deadlines.received((1, false), now: Self.begin)
        let limit = Self.after(Limits.idlePatience)
        #expect(deadlines.verdict(now: limit, isServing: true, openExchangeCount: 0) == .fine)
        #expect(deadlines.verdict(now: limit + 1, isServing: true, openExchangeCount: 0) == .idle)
        #expect(deadlines.verdict(now: limit + 1, isServing: true, openExchangeCount: 1) == .fine)
    }

    @Test func `bytes that complete no message keep no connection`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((1, true), now: Self.begin)
        let limit = Self.after(Limits.requestPatience)
        deadlines.received((1, true), now: limit)
        #expect(deadlines.verdict(now: limit, isServing: true, openExchangeCount: 0) == .fine)
        #expect(deadlines.verdict(now: limit + 1, isServing: true, openExchangeCount: 0) == .tooSlow("message"))
        deadlines.received((2, true), now: limit + 1)
        #expect(deadlines.verdict(now: limit + 2, isServing: true, openExchangeCount: 0) == .fine)
        deadlines.received((3, false), now: limit + 3)
        #expect(deadlines.verdict(now: limit * 2, isServing: true, openExchangeCount: 0) == .fine)
    }

    @Test func `a connection that completes no first message in time is closed`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((0, true), now: Self.begin)
        let late = Self.after(Limits.handshakePatience) + 1
        #expect(deadlines.verdict(now: late, isServing: true, openExchangeCount: 0) == .tooSlow("handshake"))
        deadlines.received((1, false), now: late)
        #expect(deadlines.verdict(now: late, isServing: true, openExchangeCount: 0) == .fine)
    }

    @Test func `a request that does not end is too slow, and one that ended is not`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((1, false), now: Self.begin)
        deadlines.requestBegan(now: Self.begin)
        let limit = Self.after(Limits.requestPatience)
        #expect(deadlines.verdict(now: limit, isServing: true, openExchangeCount: 1) == .fine)
        #expect(deadlines.verdict(now: limit + 1, isServing: true, openExchangeCount: 1) == .tooSlow("request"))
        deadlines.requestEnded()
        #expect(deadlines.verdict(now: limit + 1, isServing: true, openExchangeCount: 1) == .fine)
    }

    @Test func `output that moves is not too slow`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((1, false), now: Self.begin)
        deadlines.outputWaits(true, now: Self.begin)
        let limit = Self.after(Limits.outputPatience)
        #expect(deadlines.verdict(now: limit + 1, isServing: true, openExchangeCount: 1) == .tooSlow("output"))
        deadlines.wrote(now: limit)
        #expect(deadlines.verdict(now: limit + 1, isServing: true, openExchangeCount: 1) == .fine)
        deadlines.outputWaits(false, now: limit)
        #expect(deadlines.verdict(now: limit * 2, isServing: true, openExchangeCount: 1) == .fine)
    }
}
