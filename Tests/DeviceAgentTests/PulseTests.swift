// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
import Testing

@Suite struct PulseTests {
    private static let second: UInt64 = 1_000_000_000

    /// A pulse, a clock, and a connection whose answers come at once, or not at all.
    private struct Walk {
        var pulse = Pulse()
        var now: UInt64 = 5 * second

        /// Waits for as long as the pulse says.
        ///
        /// - Returns: What it wants then.
        mutating func wait() -> Pulse.Action {
            guard case .wait(let duration) = pulse.next(atNanoseconds: now) else { return .wait(.zero) }
            now += UInt64(duration / .nanoseconds(1))
            return pulse.next(atNanoseconds: now)
        }

        /// Lives through some questions, each answered at once.
        mutating func live(questions: Int) {
            for _ in 0..<questions {
                #expect(wait() == .ask)
                pulse.asked(atNanoseconds: now)
                pulse.heard(atNanoseconds: now)
            }
        }

        /// Asks, and gets no answer.
        mutating func die() -> Pulse.Action {
            #expect(wait() == .ask)
            pulse.asked(atNanoseconds: now)
            let end = wait()
            pulse.ended(atNanoseconds: now)
            pulse.opened(atNanoseconds: now)
            return end
        }
    }

    @Test(arguments: [0, 1, 500]) func `a dead link is seen within half a minute, however old it is`(questions: Int) {
        var walk = Walk()
        walk.pulse.opened(atNanoseconds: walk.now)
        walk.live(questions: questions)
        let last = walk.now
        #expect(walk.die() == .dead(.seconds(28)))
        #expect(walk.now - last < 30 * Self.second)
    }

    @Test func `what comes by itself puts the question off`() {
        var walk = Walk()
        walk.pulse.opened(atNanoseconds: walk.now)
        for _ in 0..<10 {
            walk.now += 19 * Self.second
            #expect(walk.pulse.next(atNanoseconds: walk.now) == .wait(.seconds(1)))
            walk.pulse.heard(atNanoseconds: walk.now)
        }
        #expect(walk.wait() == .ask)
    }

    @Test func `one question is under way at a time, and its patience is not prolonged`() {
        var walk = Walk()
        walk.pulse.opened(atNanoseconds: walk.now)
        walk.pulse.asked(atNanoseconds: walk.now)
        walk.pulse.asked(atNanoseconds: walk.now + 5 * Self.second)
        #expect(walk.wait() == .dead(.seconds(8)))
    }

    @Test func `who saves power asks less and less often, up to four minutes`() {
        var walk = Walk()
        walk.pulse.savesPower = true
        walk.pulse.opened(atNanoseconds: walk.now)
        var intervals: [Duration] = []
        for _ in 0..<6 {
            intervals.append(walk.pulse.interval)
            walk.live(questions: 3)
        }
        #expect(intervals == [20, 40, 80, 160, 240, 240].map { Duration.seconds($0) })
        walk.pulse.savesPower = false
        #expect(walk.pulse.interval == .seconds(20))
    }

    @Test func `what died while it was quiet is asked more often, until the network is another one`() {
        var walk = Walk()
        walk.pulse.savesPower = true
        walk.pulse.opened(atNanoseconds: walk.now)
        walk.live(questions: 9)
        #expect(walk.pulse.interval == .seconds(160))
        #expect(walk.die() == .dead(.seconds(168)))
        #expect(walk.pulse.interval == .seconds(20))
        walk.live(questions: 30)
        #expect(walk.pulse.interval == .seconds(80))
        walk.pulse.networkChanged()
        walk.live(questions: 30)
        #expect(walk.pulse.interval == .seconds(240))
    }

    @Test func `an end that had nothing to do with quiet changes nothing`() {
        var walk = Walk()
        walk.pulse.savesPower = true
        walk.pulse.opened(atNanoseconds: walk.now)
        walk.live(questions: 3)
        walk.pulse.ended(atNanoseconds: walk.now + 20 * Self.second)
        #expect(walk.pulse.interval == .seconds(40))
    }

    @Test func `where nothing can be asked, a heartbeat that is late is the end`() {
        var walk = Walk()
        walk.pulse.connecting(atNanoseconds: walk.now)
        walk.pulse.asked(atNanoseconds: walk.now)
        #expect(!walk.pulse.isAsked)
        #expect(walk.wait() == .dead(.seconds(28)))
        walk.pulse.opened(withHeartbeatsEvery: .seconds(100), atNanoseconds: walk.now)
        #expect(walk.wait() == .dead(.seconds(108)))
    }

    @Test func `a clock that seems to run backwards is no silence`() {
        var pulse = Pulse()
        pulse.opened(atNanoseconds: 100 * Self.second)
        #expect(pulse.next(atNanoseconds: 0) == .wait(.seconds(20)))
    }
}
