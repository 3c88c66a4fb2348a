// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import PushNet
import Testing

@Suite struct KeepaliveMonitorTests {
    /// A keepalive monitor with a clock, and a connection that answers immediately or never.
    private struct Walk {
        var keepalive = KeepaliveMonitor()
        var now = MonotonicTime.past.advanced(bySeconds: 5)

        /// Waits until the monitor's next deadline.
        ///
        /// - Returns: The monitor's action at that time.
        mutating func wait() -> KeepaliveMonitor.Action {
            guard case .wait(let duration) = keepalive.next(at: now) else { return .wait(.zero) }
            now = now.advanced(by: duration)
            return keepalive.next(at: now)
        }

        /// Answers a number of probes immediately.
        mutating func live(questions: Int) {
            for _ in 0..<questions {
                #expect(wait() == .ping)
                keepalive.expectAnswer(at: now)
                keepalive.received(at: now)
            }
        }

        /// Sends a probe that gets no answer.
        mutating func die() -> KeepaliveMonitor.Action {
            #expect(wait() == .ping)
            keepalive.expectAnswer(at: now)
            let end = wait()
            keepalive.ended(at: now)
            keepalive.opened(at: now)
            return end
        }
    }

    @Test(arguments: [0, 1, 500]) func `a broken link is detected within half a minute at any age`(questions: Int) {
        var walk = Walk()
        walk.keepalive.opened(at: walk.now)
        walk.live(questions: questions)
        let last = walk.now
        #expect(walk.die() == .dead(.seconds(28)))
        #expect(walk.now.duration(since: last) < .seconds(30))
    }

    @Test func `received data postpones the next probe`() {
        var walk = Walk()
        walk.keepalive.opened(at: walk.now)
        for _ in 0..<10 {
            walk.now = walk.now.advanced(bySeconds: 19)
            #expect(walk.keepalive.next(at: walk.now) == .wait(.seconds(1)))
            walk.keepalive.received(at: walk.now)
        }
        #expect(walk.wait() == .ping)
    }

    @Test func `only one probe is pending at a time, and its timeout is not extended`() {
        var walk = Walk()
        walk.keepalive.opened(at: walk.now)
        walk.keepalive.expectAnswer(at: walk.now)
        walk.keepalive.expectAnswer(at: walk.now.advanced(bySeconds: 5))
        #expect(walk.wait() == .dead(.seconds(8)))
    }

    @Test func `a device that saves power probes less and less often, up to every four minutes`() {
        var walk = Walk()
        walk.keepalive.savesPower = true
        walk.keepalive.opened(at: walk.now)
        var intervals: [Duration] = []
        for _ in 0..<6 {
            intervals.append(walk.keepalive.interval)
            walk.live(questions: 3)
        }
        #expect(intervals == [20, 40, 80, 160, 240, 240].map { Duration.seconds($0) })
        walk.keepalive.savesPower = false
        #expect(walk.keepalive.interval == .seconds(20))
    }

    @Test func `a link that broke while idle is probed more often until the network changes`() {
        var walk = Walk()
        walk.keepalive.savesPower = true
        walk.keepalive.opened(at: walk.now)
        walk.live(questions: 9)
        #expect(walk.keepalive.interval == .seconds(160))
        #expect(walk.die() == .dead(.seconds(168)))
        #expect(walk.keepalive.interval == .seconds(20))
        walk.live(questions: 30)
        #expect(walk.keepalive.interval == .seconds(80))
        walk.keepalive.networkChanged()
        walk.live(questions: 30)
        #expect(walk.keepalive.interval == .seconds(240))
    }

    @Test func `a disconnection unrelated to idle time does not change the probe interval`() {
        var walk = Walk()
        walk.keepalive.savesPower = true
        walk.keepalive.opened(at: walk.now)
        walk.live(questions: 3)
        walk.keepalive.ended(at: walk.now.advanced(bySeconds: 20))
        #expect(walk.keepalive.interval == .seconds(40))
    }

    @Test func `without probes, a late heartbeat ends the connection`() {
        var walk = Walk()
        walk.keepalive.connecting(at: walk.now)
        walk.keepalive.expectAnswer(at: walk.now)
        #expect(!walk.keepalive.awaitsAnswer)
        #expect(walk.wait() == .dead(.seconds(28)))
        walk.keepalive.opened(withHeartbeatsEvery: .seconds(100), at: walk.now)
        #expect(walk.wait() == .dead(.seconds(108)))
    }

    @Test func `a clock that runs backwards is not a timeout`() {
        var keepalive = KeepaliveMonitor()
        keepalive.opened(at: .past.advanced(bySeconds: 100))
        #expect(keepalive.next(at: .past) == .wait(.seconds(20)))
    }
}
