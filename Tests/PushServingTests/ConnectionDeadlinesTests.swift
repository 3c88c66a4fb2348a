// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServing

@Suite struct ConnectionDeadlinesTests {
    private static let begin = MonotonicTime.past.advanced(bySeconds: 5)

    private static func after(_ duration: Duration) -> MonotonicTime { begin.advanced(by: duration) }

    @Test func `a handshake has a time limit`() {
        let deadlines = ConnectionDeadlines(now: Self.begin)
        let limit = Self.after(Limits.handshakeTimeout)
        #expect(deadlines.verdict(now: limit, isServing: false, openExchangeCount: 0) == .fine)
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: false, openExchangeCount: 0)
                == .tooSlow("handshake"))
    }

    @Test func `a connection without open requests becomes idle`() {
        var deadlines = ConnectionDeadlines(now: .past)
        deadlines.received((1, false), now: Self.begin)
        let limit = Self.after(Limits.idleTimeout)
        #expect(deadlines.verdict(now: limit, isServing: true, openExchangeCount: 0) == .fine)
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: true, openExchangeCount: 0) == .idle)
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: true, openExchangeCount: 1) == .fine)
    }

    @Test func `a stranger must authenticate in time, with a little more time for open requests`() {
        var deadlines = ConnectionDeadlines(now: .past)
        deadlines.handshakeBegins(now: Self.begin)
        let timeout = Duration.seconds(60)
        let limit = Self.after(timeout)
        deadlines.received((1, false), now: limit)
        func verdict(_ now: MonotonicTime, _ timeout: Duration?) -> ConnectionDeadlines.Verdict {
            deadlines.verdict(now: now, isServing: true, openExchangeCount: 0, authenticationTimeout: timeout)
        }
        #expect(verdict(limit, timeout) == .fine)
        #expect(verdict(limit.advanced(byNanoseconds: 1), timeout) == .unproven)
        #expect(verdict(limit.advanced(byNanoseconds: 1), nil) == .fine)
        #expect(
            verdict(Self.after(timeout + Limits.requestTimeout + .nanoseconds(1)), timeout) == .tooSlow("credential")
        )
    }

    @Test func `bytes that complete no message do not keep a connection open`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((1, true), now: Self.begin)
        let limit = Self.after(Limits.requestTimeout)
        deadlines.received((1, true), now: limit)
        #expect(deadlines.verdict(now: limit, isServing: true, openExchangeCount: 0) == .fine)
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: true, openExchangeCount: 0)
                == .tooSlow("message"))
        deadlines.received((2, true), now: limit.advanced(byNanoseconds: 1))
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 2), isServing: true, openExchangeCount: 0) == .fine)
        deadlines.received((3, false), now: limit.advanced(byNanoseconds: 3))
        #expect(
            deadlines.verdict(
                now: MonotonicTime(nanoseconds: limit.nanoseconds * 2), isServing: true, openExchangeCount: 0) == .fine)
    }

    @Test func `a connection that completes no first message in time is closed`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((0, true), now: Self.begin)
        let late = Self.after(Limits.handshakeTimeout + .nanoseconds(1))
        #expect(deadlines.verdict(now: late, isServing: true, openExchangeCount: 0) == .tooSlow("handshake"))
        deadlines.received((1, false), now: late)
        #expect(deadlines.verdict(now: late, isServing: true, openExchangeCount: 0) == .fine)
    }

    @Test func `an unfinished request is too slow after its limit, and a finished one is not`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((1, false), now: Self.begin)
        deadlines.requestBegan(now: Self.begin)
        let limit = Self.after(Limits.requestTimeout)
        #expect(deadlines.verdict(now: limit, isServing: true, openExchangeCount: 1) == .fine)
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: true, openExchangeCount: 1)
                == .tooSlow("request"))
        deadlines.requestEnded()
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: true, openExchangeCount: 1) == .fine)
    }

    @Test func `output that makes progress is not too slow`() {
        var deadlines = ConnectionDeadlines(now: Self.begin)
        deadlines.received((1, false), now: Self.begin)
        deadlines.outputWaits(true, now: Self.begin)
        let limit = Self.after(Limits.outputTimeout)
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: true, openExchangeCount: 1)
                == .tooSlow("output"))
        deadlines.wrote(now: limit)
        #expect(
            deadlines.verdict(now: limit.advanced(byNanoseconds: 1), isServing: true, openExchangeCount: 1) == .fine)
        deadlines.outputWaits(false, now: limit)
        #expect(
            deadlines.verdict(
                now: MonotonicTime(nanoseconds: limit.nanoseconds * 2), isServing: true, openExchangeCount: 1) == .fine)
    }
}
