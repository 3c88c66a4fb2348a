// SPDX-License-Identifier: Apache-2.0

@testable import PushNet
import Testing

@Suite struct EventLoopTimerTests {
    @Test func `timers run in order of their deadlines and never early`() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        for delay in [7, 1, 5, 3] {
            let start = ContinuousClock.now
            loop.schedule(after: .milliseconds(delay)) {
                #expect(ContinuousClock.now - start >= .milliseconds(delay))
                order.append(delay)
                if delay == 7 { loop.stop() }
            }
        }
        runUntilStopped(loop)
        #expect(order == [1, 3, 5, 7])
    }

    @Test func `a canceled timer does not run, even if it is due in the same turn`() throws {
        let loop = try EventLoop()
        var ran: [String] = []
        var second: TimerID?
        loop.schedule(after: .zero) {
            ran.append("first")
            if let second { loop.cancel(second) }
            loop.schedule(after: .milliseconds(1)) { loop.stop() }
        }
        second = loop.schedule(after: .zero) { ran.append("second") }
        runUntilStopped(loop)
        #expect(ran == ["first"])
    }

    @Test func `a canceled timer's action is released immediately`() throws {
        let loop = try EventLoop()
        weak var held: Unmoved?
        let timer: TimerID
        do {
            let object = try Unmoved()
            held = object
            timer = loop.schedule(after: .seconds(60)) { _ = object.value.near.rawValue }
        }
        #expect(held != nil)
        loop.cancel(timer)
        #expect(held == nil)
    }

    @Test func `cancelling a timer that fired does not affect the next one in its slot`() throws {
        let loop = try EventLoop()
        var ranSecond = false
        let first = loop.schedule(after: .zero) { loop.stop() }
        loop.run()
        loop.schedule(after: .zero) {
            ranSecond = true
            loop.stop()
        }
        loop.cancel(first)
        runUntilStopped(loop)
        #expect(ranSecond)
    }

    @Test func `a timer without delay that a timer schedules runs in the next turn`() throws {
        let loop = try EventLoop()
        var events: [String] = []
        loop.schedule(after: .zero) {
            events.append("timer")
            loop.atEndOfTurn { events.append("end") }
            loop.schedule(after: .zero) {
                events.append("timer")
                loop.stop()
            }
        }
        runUntilStopped(loop)
        #expect(events == ["timer", "end", "timer"])
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.max / 1_000_000_000), .seconds(86_400 * 365)])
    func `a very long delay neither traps nor runs`(delay: Duration) throws {
        let loop = try EventLoop()
        var ran = false
        loop.schedule(after: delay) { ran = true }
        loop.schedule(after: .milliseconds(1)) { loop.stop() }
        loop.run()
        #expect(!ran)
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(1)])
    func `a timer with a negative delay runs in the next turn`(delay: Duration) throws {
        let loop = try EventLoop()
        var ran = false
        loop.schedule(after: delay) {
            ran = true
            loop.stop()
        }
        runUntilStopped(loop)
        #expect(ran)
    }

    @Test func `end-of-turn actions run once after the events, and nested ones in the next turn without delay`()
        throws
    {
        let loop = try EventLoop()
        var events: [String] = []
        loop.schedule(after: .zero) {
            loop.atEndOfTurn {
                events.append("outer")
                loop.atEndOfTurn {
                    events.append("inner")
                    loop.stop()
                }
            }
            events.append("timer")
        }
        runUntilStopped(loop)
        #expect(events == ["timer", "outer", "inner"])
    }

    @Test func `a stop before the run ends only the next run`() throws {
        let loop = try EventLoop()
        loop.stop()
        loop.run()
        var ran = false
        loop.schedule(after: .zero) {
            ran = true
            loop.stop()
        }
        runUntilStopped(loop)
        #expect(ran)
    }

    @Test func `the turn in which the loop is stopped is finished`() throws {
        let loop = try EventLoop()
        var events: [String] = []
        loop.schedule(after: .zero) {
            loop.stop()
            loop.atEndOfTurn { events.append("flushed") }
        }
        loop.run()
        #expect(events == ["flushed"])
    }

    @Test func `the loop's clock is constant within a turn and advances between turns`() throws {
        let loop = try EventLoop()
        let before = loop.now
        var readings: [MonotonicTime] = []
        loop.schedule(after: .milliseconds(2)) {
            readings.append(loop.now)
            loop.atEndOfTurn {
                readings.append(loop.now)
                loop.stop()
            }
        }
        runUntilStopped(loop)
        try #require(readings.count == 2)
        #expect(readings[0] == readings[1])
        #expect(readings[0] >= before.advanced(byMilliseconds: 2))
    }
}
