// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
import PushNet
import Testing

struct BackgroundWakesTests {
    /// Before the loop looks at its clock.
    private let begin = ContinuousClock.now
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    /// Starts each wake and ends it when the test says so.
    private final class Apps {
        var started: [Int64] = []
        var completions: [() -> Void] = []
        var isRefusing = false

        func finish() { completions.removeFirst()() }
    }

    private func wakes(_ apps: Apps, period: Duration = .seconds(3600)) -> BackgroundWakes {
        let wakes = BackgroundWakes(loop: loop, period: period)
        wakes.start = { wake, completion in
            guard !apps.isRefusing else { return false }
            apps.started.append(wake.entry)
            apps.completions.append(completion)
            return true
        }
        return wakes
    }

    @Test func `an app is called once at a time, and the newest waits`() {
        let apps = Apps()
        let wakes = wakes(apps)
        for entry in 1...3 as ClosedRange<Int64> { wakes.wake(.init(appID: "a", entry: entry)) }
        wakes.wake(.init(appID: "b", entry: 4))
        #expect(apps.started == [1, 4])
        apps.finish()
        #expect(apps.started == [1, 4, 3])
        apps.finish()
        apps.finish()
        #expect(apps.started == [1, 4, 3])
    }

    @Test func `beyond the budget only the newest is woken, when the period has room`() async throws {
        let apps = Apps()
        let wakes = wakes(apps, period: .milliseconds(300))
        for entry in 1...6 as ClosedRange<Int64> {
            wakes.wake(.init(appID: "a", entry: entry))
            if !apps.completions.isEmpty { apps.finish() }
        }
        #expect(apps.started == [1, 2, 3])
        try await loop.run("the newest is woken") { apps.started.count == 4 }
        #expect(apps.started == [1, 2, 3, 6])
        #expect(ContinuousClock.now - begin >= .milliseconds(300))
    }

    @Test func `a wake that is refused costs nothing of the budget`() {
        let apps = Apps()
        let wakes = wakes(apps)
        apps.isRefusing = true
        for entry in 1...5 as ClosedRange<Int64> { wakes.wake(.init(appID: "a", entry: entry)) }
        apps.isRefusing = false
        for entry in 6...9 as ClosedRange<Int64> {
            wakes.wake(.init(appID: "a", entry: entry))
            if !apps.completions.isEmpty { apps.finish() }
        }
        #expect(apps.started == [6, 7, 8])
    }
}
