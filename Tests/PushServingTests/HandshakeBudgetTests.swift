// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import Testing

@testable import PushServing

@Suite struct HandshakeBudgetTests {
    private static let start = MonotonicTime.past.advanced(bySeconds: 1000)
    private static let step = Duration.microseconds(500)
    private var budget = HandshakeBudget()

    /// Returns the number of steps in a turn whose other work has taken some time.
    ///
    /// - Parameters:
    ///   - other: The time since the start of the turn.
    ///   - step: The time that each step takes.
    ///   - waiting: The number of handshakes that can continue.
    ///   - now: The time of the first step.
    /// - Returns: The number of steps.
    private func stepCount(
        after other: Duration, of step: Duration = Self.step, waiting: Int = 1000, now: MonotonicTime = Self.start
    ) -> Int {
        var (time, count) = (now.advanced(by: other), 0)
        budget.spend(turnBeganAt: now, clock: { time }) {
            guard count < waiting else { return false }
            count += 1
            time = time.advanced(by: step)
            return true
        }
        return count
    }

    @Test func `without requests, the steps of a turn end when their time is used, whatever else the turn did`() {
        let wholeCount = Int(Limits.handshakeDurationPerTurn / Self.step)
        for other in [Duration.zero, .milliseconds(1), .seconds(2)] {
            #expect(stepCount(after: other) == wholeCount)
            #expect(stepCount(after: other, of: Self.step + .nanoseconds(1)) == wholeCount)
            #expect(stepCount(after: other, of: Self.step * 2) == wholeCount / 2)
        }
    }

    @Test mutating func `while requests arrive, handshakes get their share of the turn`() {
        budget.noteRequest(at: Self.start)
        let other = Self.step * 3 * Limits.handshakeShare
        #expect(stepCount(after: other) == 3)
        #expect(stepCount(after: other + .nanoseconds(Limits.handshakeShare)) == 4)
    }

    @Test mutating func `while requests arrive, even a very long turn has no more steps than one without requests`() {
        let wholeCount = stepCount(after: .zero)
        budget.noteRequest(at: Self.start)
        #expect(stepCount(after: .milliseconds(900)) == wholeCount)
    }

    @Test mutating func `every turn has a step, however long it takes and however short the turn is`() {
        #expect(stepCount(after: .zero, of: .seconds(1)) == 1)
        budget.noteRequest(at: Self.start)
        #expect(stepCount(after: .zero) == 1)
        #expect(stepCount(after: .zero, of: .seconds(1)) == 1)
    }

    @Test mutating func `handshakes have their full time again after a pause without requests`() {
        budget.noteRequest(at: Self.start)
        let end = Self.start.advanced(by: Limits.handshakeYieldDuration)
        #expect(stepCount(after: .zero, now: end.advanced(byNanoseconds: -1)) == 1)
        #expect(stepCount(after: .zero, now: end) > 1)
        budget.noteRequest(at: end)
        #expect(stepCount(after: .zero, now: end) == 1)
    }

    @Test func `the steps end when no handshake can continue`() {
        for waiting in 0...3 { #expect(stepCount(after: .zero, waiting: waiting) == waiting) }
    }
}
