// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import Foundation
import PushCore
@testable import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Checks alerts whose hooks wait for other hooks, while the agent ends and restarts.
@Suite struct HookLineTests {
    private let file: DatabaseFile
    private let directory: TemporaryDirectory
    private let loop: EventLoop
    /// A hook that runs until the test creates the file `go`.
    private let script = """
        echo $POSTHORN_ENTRY >> begun
        while [ ! -e go ]; do sleep 0.05; done
        echo $POSTHORN_ENTRY >> ran
        """

    init() throws {
        file = try DatabaseFile()
        try file.open().apps.save(Sample.app)
        directory = try TemporaryDirectory()
        try directory.makeDirectory("hooks")
        loop = try EventLoop()
    }

    /// A run of the agent, with its state in memory.
    private struct Run {
        let database: AgentDatabase
        let runner: HookRunner
        let queue: PresentationQueue

        func states() throws -> [AgentStore.InboxEntry.State] {
            try database.inbox.newest(countMax: 1000).reversed().map(\.state)
        }
    }

    private func run(_ presenter: (any AlertPresenter)? = nil, restartPause: Duration = .seconds(3600)) throws -> Run {
        let database = try file.open()
        let runner = HookRunner(
            loop: loop, folders: [directory.path(of: "hooks")], environment: ["PATH": "/usr/bin:/bin"],
            timeLimit: .seconds(3600), restartPause: restartPause)
        let queue = PresentationQueue(database, loop: loop, presenter: presenter, hooks: runner, sounds: nil)
        runner.onFailure = { try? database.inbox.setReason($1, of: $0) }
        return Run(database: database, runner: runner, queue: queue)
    }

    private func push(_ numbers: ClosedRange<UInt64>, _ run: Run) throws {
        for number in numbers {
            let arrival = Arrival.notification(Sample.notification(number))
            let reception = try Receiver(run.database).receive(
                [arrival], now: Timestamp(unixMilliseconds: Int64(number) * 5000))
            run.queue.entriesArrived(reception.waiting)
        }
    }

    private func hook(_ body: String) throws {
        try directory.write("#!/bin/sh\ncd '\(directory.path)'\n\(body)\n", to: "hooks/any", permissions: 0o755)
    }

    private func lines(_ name: String) -> [Int] {
        directory.read(name).split(separator: "\n").compactMap { Int($0) }.sorted()
    }

    @Test func `without a presenter, a waiting hook runs once after a restart`() async throws {
        try hook(script)
        do {
            let first = try run()
            try push(1...12, first)
            // The number of alerts in one second is limited.
            try await loop.run("four began") { lines("begun").count == 4 }
            let states = try first.states()
            #expect(states.filter { $0 == .shown }.count == 4)
            #expect(states.filter { $0 == .waiting }.count == 8)
            #expect(try first.database.outboxLines().filter { $0.hasSuffix("shown") }.count == 4)
        }
        // The agent has ended, and its hooks keep running.
        try directory.write("", to: "go")
        let second = try run()
        try second.queue.resume()
        try await loop.run("all ran") { lines("ran").count == 12 }
        #expect(lines("begun") == Array(1...12))
        #expect(try second.states().allSatisfy { $0 == .shown })
        #expect(try second.database.outboxLines().filter { $0.hasSuffix("shown") }.count == 12)
    }

    @Test func `a hundred alerts wait for their hook, and the oldest over that go to the inbox only`() throws {
        try hook(script)
        let run = try run()
        let count = HookRunner.runningCountMax + Limits.hookWaitingCountMax + 1
        try push(1...UInt64(count), run)
        let entries = try run.database.inbox.newest(countMax: 1000)
        #expect(entries.filter { $0.state == .suppressed }.map(\.reason) == ["too-many"])
        #expect(entries.filter { $0.state == .waiting }.count >= Limits.hookWaitingCountMax)
    }

    @Test func `an alert whose hook cannot start waits with the reason, and is shown when the hook can`() async throws {
        try directory.write("#!/nonexistent/interpreter\n", to: "hooks/any", permissions: 0o755)
        let run = try run(restartPause: .milliseconds(50))
        try push(1...1, run)
        let entry = try #require(try run.database.inbox.entry(1))
        #expect(entry.state == .waiting && entry.reason.contains("any"))
        #expect(try run.database.outboxLines() == ["1 delivered"])
        // Another process makes and moves the file, because a file that this process has open for writing cannot be
        // executed.
        try hook("echo $POSTHORN_ENTRY >> begun")
        try await loop.run("it began") { lines("begun") == [1] }
        try await loop.run("it is shown") { try run.states() == [.shown] }
    }

    @Test func `an alert that waits for its hook is shown on a new desktop, and its hook still runs`() async throws {
        try hook(script)
        let desktop = Desktop()
        desktop.isAvailable = false
        let run = try run(desktop)
        try push(1...6, run)
        try await loop.run("four began") { lines("begun").count == 4 }
        desktop.isAvailable = true
        run.queue.presenterBecameAvailable()
        try await loop.run("the others are shown") { desktop.shown == [5, 6] }
        try directory.write("", to: "go")
        try await loop.run("all ran") { lines("ran") == Array(1...6) }
        #expect(try run.states().allSatisfy { $0 == .shown })
    }

    // MARK: Beside a screen

    private final class Desktop: AlertPresenter {
        weak var delegate: (any AlertPresenterDelegate)?
        var isAvailable = true
        var shown: [EntryID] = []

        func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
            guard isAvailable else { return completion(.unavailable("not now")) }
            shown.append(alert.entry)
            completion(.shown(playsSound: true))
        }
        func withdraw(entries: [EntryID]) {}
        func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
    }

    @Test func `with a presenter, a waiting hook runs once after a restart`() async throws {
        try hook(script)
        do {
            let first = try run(Desktop())
            try push(1...5, first)
            try await loop.run("four began") { lines("begun").count == 4 }
            #expect(try first.states().allSatisfy { $0 == .shown })
            #expect(try first.database.hooks.due() == [5])
        }
        do {
            let second = try run(Desktop())
            try second.queue.resume()
            #expect(try second.database.hooks.due().isEmpty)
            try directory.write("", to: "go")
            try await loop.run("all ran") { lines("ran") == Array(1...5) }
        }
        let third = try run(Desktop())
        try third.queue.resume()
        #expect(lines("begun") == Array(1...5))
    }

    @Test func `the hook of an alert that is cleared while it waits does not run`() async throws {
        try hook(script)
        let run = try run(Desktop())
        try push(1...5, run)
        try await loop.run("four began") { lines("begun").count == 4 }
        try run.database.inbox.remove(5)
        #expect(try run.database.hooks.due().isEmpty)
        try directory.write("", to: "go")
        try await loop.run("four ran") { lines("ran").count == 4 && run.runner.hasRoom }
        #expect(lines("begun") == [1, 2, 3, 4])
    }
}
