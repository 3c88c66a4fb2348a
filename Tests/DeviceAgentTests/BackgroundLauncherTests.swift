// SPDX-License-Identifier: Apache-2.0

import LoopTestSupport
import AgentStore
@testable import DeviceAgent
import PushCore
import PushNet
import Testing

struct BackgroundWakesTests {
    /// The start of the test, before the loop reads its clock.
    private let begin = ContinuousClock.now
    private let loop: EventLoop
    private let file: DatabaseFile

    init() throws {
        loop = try EventLoop()
        file = try DatabaseFile()
    }

    /// Records each wake, and ends it when the test requests that.
    private final class Apps {
        var started: [EntryID] = []
        var completions: [() -> Void] = []
        var isRefusing = false

        func finish() { completions.removeFirst()() }
    }

    private func wakes(
        _ apps: Apps, _ database: AgentDatabase? = nil, period: Duration = .seconds(3600),
        nowMilliseconds: Int64 = 1_000_000_000
    ) throws -> BackgroundLauncher {
        let wakes = try BackgroundLauncher(
            database ?? file.open(), loop: loop, period: period,
            now: { Timestamp(unixMilliseconds: nowMilliseconds) })
        wakes.start = { wake, completion in
            guard !apps.isRefusing else { return false }
            apps.started.append(wake.entry)
            apps.completions.append(completion)
            return true
        }
        return wakes
    }

    @Test func `an app is woken once at a time, and only the newest wake waits`() throws {
        let apps = Apps()
        let wakes = try wakes(apps)
        for entry in (1...3).map(EntryID.init(rawValue:)) { wakes.wake(.init(appID: "a", entry: entry)) }
        wakes.wake(.init(appID: "b", entry: 4))
        #expect(apps.started == [1, 4])
        apps.finish()
        #expect(apps.started == [1, 4, 3])
        apps.finish()
        apps.finish()
        #expect(apps.started == [1, 4, 3])
    }

    @Test func `over the budget only the newest wake runs, in the next period`() async throws {
        let apps = Apps()
        let wakes = try wakes(apps, period: .milliseconds(300))
        for entry in (1...6).map(EntryID.init(rawValue:)) {
            wakes.wake(.init(appID: "a", entry: entry))
            if !apps.completions.isEmpty { apps.finish() }
        }
        #expect(apps.started == [1, 2, 3])
        try await loop.run("the newest is woken") { apps.started.count == 4 }
        #expect(apps.started == [1, 2, 3, 6])
        #expect(ContinuousClock.now - begin >= .milliseconds(300))
    }

    @Test func `a refused wake does not use the budget`() throws {
        let apps = Apps()
        let wakes = try wakes(apps)
        apps.isRefusing = true
        for entry in (1...5).map(EntryID.init(rawValue:)) { wakes.wake(.init(appID: "a", entry: entry)) }
        apps.isRefusing = false
        for entry in (6...9).map(EntryID.init(rawValue:)) {
            wakes.wake(.init(appID: "a", entry: entry))
            if !apps.completions.isEmpty { apps.finish() }
        }
        #expect(apps.started == [6, 7, 8])
    }

    // MARK: The next run

    /// Runs an agent that receives these entries and wakes apps until it is killed.
    private func firstRun(_ entries: ClosedRange<Int64>, _ apps: Apps, isSlow: Bool) throws {
        let database = try file.open()
        let wakes = try wakes(apps, database)
        for entry in entries.map(EntryID.init(rawValue:)) {
            try database.wakes.setDue(.init(appID: "a", entry: entry))
            wakes.wake(.init(appID: "a", entry: entry))
            if !isSlow, !apps.completions.isEmpty { apps.finish() }
        }
    }

    @Test func `a wake that waits for a busy app runs after a restart, and a started one does not repeat`() throws {
        try firstRun(1...3, Apps(), isSlow: true)
        let apps = Apps()
        let wakes = try wakes(apps)
        try wakes.resume()
        #expect(apps.started == [3])
    }

    @Test(arguments: [(0, []), (3_599_999, []), (3_600_000, [6]), (-1_000_000, [])] as [(Int64, [EntryID])])
    func `a restarted agent knows the used budget, and continues in the next period`(
        milliseconds: Int64, started: [EntryID]
    ) throws {
        let first = Apps()
        try firstRun(1...6, first, isSlow: false)
        #expect(first.started == [1, 2, 3])
        let apps = Apps()
        let wakes = try wakes(apps, nowMilliseconds: 1_000_000_000 + milliseconds)
        try wakes.resume()
        #expect(apps.started == started)
        withExtendedLifetime(wakes) {}
    }

    @Test func `a refused wake does not use the budget of the next run either`() throws {
        let refusing = Apps()
        refusing.isRefusing = true
        try firstRun(1...5, refusing, isSlow: false)
        let apps = Apps()
        let wakes = try wakes(apps)
        try wakes.resume()
        for entry in (6...9).map(EntryID.init(rawValue:)) {
            wakes.wake(.init(appID: "a", entry: entry))
            if !apps.completions.isEmpty { apps.finish() }
        }
        #expect(apps.started == [6, 7, 8])
    }
}
