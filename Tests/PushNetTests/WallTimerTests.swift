// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushNet
import Testing

struct WallTimerTests {
    /// Returns the wall clock in milliseconds since 1970.
    private func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    @Test func `it fires at its time, at once for a past time, and not after it was disarmed`() throws {
        let loop = try EventLoop()
        var fireTimes: [Int64] = []
        let timer = try WallTimer(loop: loop) {
            fireTimes.append(now())
            loop.stop()
        }
        defer { timer.stop() }
        try timer.set(unixMilliseconds: -7)
        runUntilStopped(loop)
        let soon = now() + 30
        try timer.set(unixMilliseconds: soon)
        runUntilStopped(loop)
        #expect(fireTimes.count == 2 && fireTimes[1] >= soon)
        try timer.set(unixMilliseconds: now() + 20)
        try timer.set(unixMilliseconds: nil)
        loop.schedule(after: .milliseconds(60)) { loop.stop() }
        runUntilStopped(loop)
        #expect(fireTimes.count == 2)
    }
}
