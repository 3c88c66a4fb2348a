// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import Foundation
import PushAPI
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Runs hooks, which are programs that the agent starts for each alert.
@Suite struct HookTests {
    private let file: DatabaseFile
    private let database: AgentDatabase
    private let directory: TemporaryDirectory
    private let loop: EventLoop

    init() throws {
        file = try DatabaseFile()
        database = try file.open()
        try database.apps.save(Sample.app)
        directory = try TemporaryDirectory()
        try directory.makeDirectory("hooks")
        try directory.makeDirectory("system")
        loop = try EventLoop()
    }

    private func hook(_ name: String, _ body: String, permissions: Int = 0o755) throws {
        let text = "#!/bin/sh\ncd '\(directory.path)'\n\(body)\n"
        try directory.write(text, to: name, permissions: permissions)
    }

    private func runner(
        timeLimit: Duration = .seconds(3600), restartPause: Duration = .seconds(3600)
    ) -> HookRunner {
        HookRunner(
            loop: loop, folders: [directory.path(of: "hooks"), directory.path(of: "system")],
            environment: ["PATH": "/usr/bin:/bin", "NOTIFY_SOCKET": "x", "POSTHORN_AGENT_ENROLMENT_CODE": "x"],
            timeLimit: timeLimit, restartPause: restartPause)
    }

    private func entry() throws -> AgentStore.InboxEntry {
        let payload = #"{"aps":{"alert":{"title":"T\n$(x)","body":"B"}}}"#
        let number = UInt64(try database.inbox.newest(countMax: 1).first?.entry.rawValue ?? 0) + 1
        _ = try Receiver(database).receive(
            [.notification(Sample.notification(number, payload: payload))],
            now: Timestamp(unixMilliseconds: Int64(number) * 5000))
        return try #require(try database.inbox.entry(EntryID(rawValue: Int64(number))))
    }

    private func text(_ name: String) -> String? {
        try? String(contentsOfFile: directory.path(of: name), encoding: .utf8)
    }

    @Test func `a hook gets the notification as input and in variables, and no variable of the agent`() async throws {
        try hook("hooks/org.example.Mail", "cat > input.new; env > variables; mv input.new input")
        let runner = runner()
        let entry = try entry()
        #expect(runner.start(entry) == .begun)
        try await loop.run("the hook ran") { text("input") != nil }
        #expect(text("input").map { Array($0.utf8) } == entry.notificationJSON)
        let variables = try #require(text("variables"))
        #expect(variables.contains("POSTHORN_APP_ID=org.example.Mail\n") && variables.contains("POSTHORN_BODY=B\n"))
        #expect(variables.contains("POSTHORN_TITLE=T\n$(x)\n") && variables.contains("POSTHORN_ENTRY=1\n"))
        #expect(!variables.contains("NOTIFY_SOCKET") && !variables.contains("ENROLMENT_CODE"))
    }

    @Test func `the user's hook overrides the system's, and an app's own overrides any`() async throws {
        try hook("system/any", "echo system any >> log")
        let runner = runner()
        #expect(runner.start(try entry()) == .begun)
        try await loop.run("the system's ran") { text("log") == "system any\n" }
        try hook("hooks/any", "echo any >> log")
        #expect(runner.start(try entry()) == .begun)
        try await loop.run("the user's hook ran") { text("log")?.hasSuffix("\nany\n") == true }
        try hook("system/org.example.Mail", "echo mail >> log")
        #expect(runner.start(try entry()) == .begun)
        try await loop.run("the app's ran") { text("log")?.hasSuffix("\nmail\n") == true }
    }

    @Test(arguments: [0o775, 0o757, 0o644])
    func `a hook that others may write or that is not executable does not run`(permissions: Int) throws {
        try hook("hooks/org.example.Mail", "echo ran > log", permissions: permissions)
        try hook("hooks/any", "echo ran > log")
        #expect(runner().start(try entry()) == .none)
    }

    @Test func `a hook in a folder that others may write does not run`() throws {
        try hook("hooks/any", "echo ran > log")
        #expect(unsafe chmod(directory.path(of: "hooks"), 0o777) == 0)
        #expect(runner().start(try entry()) == .none)
    }

    @Test func `an app that is unknown, or whose ID is a path, has no hook`() throws {
        try hook("hooks/any", "echo ran > log")
        var entry = try entry()
        for appID in ["", "../hooks/any", "a/b"] as [AppID] {
            entry.appID = appID
            #expect(runner().start(entry) == .none)
        }
    }

    @Test func `a hook that takes too long is killed with its children and reported`() async throws {
        try hook("hooks/any", "sleep 1000 & echo $! > child; wait")
        let runner = runner(timeLimit: .milliseconds(300))
        var failures: [String] = []
        runner.onFailure = { failures.append("\($0) \($1)") }
        #expect(runner.start(try entry()) == .begun)
        try await loop.run("it is killed") { !failures.isEmpty }
        #expect(failures.first?.hasPrefix("1 ") == true && failures.first?.contains("took longer than") == true)
        if let child = text("child").flatMap({ Int32($0.dropLast()) }) {
            try await eventually("its child is gone") { kill(child, 0) != 0 }
        }
    }

    @Test func `a hook's failure is reported with its name first`() async throws {
        try hook("hooks/any", "exit 3")
        let runner = runner()
        var failures: [String] = []
        runner.onFailure = { failures.append("\($0) \($1)") }
        #expect(runner.start(try entry()) == .begun)
        try await loop.run("it failed") { !failures.isEmpty }
        #expect(failures == ["1 hook any: ended with status 3"])
    }

    @Test(arguments: [
        ("#!/nowhere/python3\n", "hook any: the interpreter in its first line is missing"),
        ("exit 3\n", "hook any: its first line does not begin with #!"),
    ])
    func `the reason that a hook cannot start is reported with its name first`(script: String, failure: String) throws {
        try directory.write(script, to: "hooks/any", permissions: 0o755)
        #expect(runner().start(try entry()) == .failed(failure))
    }

    @Test func `the status names a few of the hooks that would run`() throws {
        #expect(runner().summary == nil)
        try hook("hooks/any", "true")
        try hook("system/org.example.Mail", "true")
        try hook("system/any", "true", permissions: 0o644)
        try hook("hooks/org.example.Chat", "true", permissions: 0o777)
        #expect(runner().summary == "any, org.example.Mail")
        for number in 1...5 { try hook("system/b\(number)", "true") }
        #expect(runner().summary == "any, b1, b2, b3, b4 and 2 more")
    }

    @Test func `four hooks run at a time, and the end of one is reported`() async throws {
        try hook("hooks/any", "while [ ! -e go ]; do sleep 0.05; done")
        let runner = runner()
        var roomCount = 0
        runner.onRoom = { roomCount += 1 }
        var entry = try entry()
        for number in 1...HookRunner.runningCountMax {
            #expect(runner.hasRoom)
            entry.entry = EntryID(rawValue: Int64(number))
            #expect(runner.start(entry) == .begun)
        }
        #expect(!runner.hasRoom)
        try directory.write("", to: "go")
        try await loop.run("all have ended") { roomCount == HookRunner.runningCountMax }
        #expect(runner.hasRoom)
    }

    @Test func `a hook that cannot start is reported, and takes no slot`() async throws {
        try directory.write("#!/nonexistent/interpreter\n", to: "hooks/any", permissions: 0o755)
        let runner = runner()
        var failures: [EntryID] = []
        runner.onFailure = { entry, _ in failures.append(entry) }
        for _ in 0...HookRunner.runningCountMax {
            guard case .failed = runner.start(try entry()) else {
                Issue.record("it began")
                return
            }
        }
        try await loop.run("the turn is over") { true }
        #expect(failures.isEmpty && runner.hasRoom)
    }

    // MARK: Instead of a screen

    @Test func `without a presenter, a hook shows each alert once`() async throws {
        try hook("hooks/org.example.Mail", "echo $POSTHORN_ENTRY >> log")
        let runner = runner()
        let queue = PresentationQueue(database, loop: loop, presenter: nil, hooks: runner, sounds: nil)
        let number = try entry().entry
        queue.entriesArrived([number])
        #expect(try database.inbox.entry(number)?.state == .shown)
        #expect(try database.outboxLines() == ["1 delivered", "1 shown"])
        try queue.resume()
        try await loop.run("the hook ran") { text("log") == "1\n" }
    }

    /// A desktop whose server may be missing, or refuse.
    private final class Desktop: AlertPresenter {
        weak var delegate: (any AlertPresenterDelegate)?
        var isAvailable = true
        var isRefusing = true
        var shown: [EntryID] = []

        func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
            guard isAvailable, !isRefusing else { return completion(.unavailable("not now")) }
            shown.append(alert.entry)
            completion(.shown(playsSound: true))
        }
        func withdraw(entries: [EntryID]) {}
        func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
    }

    @Test func `an alert that the desktop refuses for a moment is shown later, and its hook runs then`() async throws {
        try hook("hooks/any", "echo $POSTHORN_ENTRY >> log")
        let (runner, desktop) = (runner(), Desktop())
        let queue = PresentationQueue(database, loop: loop, presenter: desktop, hooks: runner, sounds: nil)
        queue.entriesArrived([try entry().entry])
        #expect(try database.inbox.entry(1)?.state == .waiting)
        desktop.isRefusing = false
        queue.presenterBecameAvailable()
        #expect(desktop.shown == [1])
        #expect(try database.inbox.entry(1)?.state == .shown)
        try await loop.run("the hook ran") { text("log") == "1\n" }
    }

    @Test func `an app without a hook waits for a desktop, and delays no other`() async throws {
        try hook("hooks/org.example.Mail", "true")
        var other = RegisteredApp(
            appID: "org.example.Other", topic: "org.example.Other", name: "Other", icon: nil, deviceToken: "")
        other.deviceToken = Sample.token
        try database.apps.save(other)
        let (runner, desktop) = (runner(), Desktop())
        desktop.isAvailable = false
        let queue = PresentationQueue(
            database, loop: loop, presenter: desktop, hooks: runner, sounds: RecordingSounds())
        func push(_ number: UInt64, _ topic: String, _ payload: String? = nil) throws {
            let arrival = Arrival.notification(Sample.notification(number, topic: topic, payload: payload))
            queue.entriesArrived(try Receiver(database).receive([arrival], now: .unixEpoch).waiting)
        }
        func states() throws -> [AgentStore.InboxEntry.State] {
            try database.inbox.newest(countMax: 9).reversed().map(\.state)
        }
        try push(1, "org.example.Other")
        try push(2, "org.example.Mail")
        try push(3, "org.example.Other", #"{"aps":{"sound":"default"}}"#)
        #expect(try states() == [.waiting, .shown, .shown])
        try hook("hooks/org.example.Other", "true")
        try push(4, "org.example.Mail")
        #expect(try states() == [.shown, .shown, .shown, .shown])
        try FileManager.default.removeItem(atPath: directory.path(of: "hooks/org.example.Other"))
        try push(5, "org.example.Other")
        (desktop.isAvailable, desktop.isRefusing) = (true, false)
        queue.presenterBecameAvailable()
        // This number of alerts reaches the limit of one second.
        try await loop.run("the last is shown") { !desktop.shown.isEmpty }
        #expect(desktop.shown == [5])
    }

    @Test(arguments: [Setting.master, .doNotDisturb])
    func `an alert that is suppressed runs no hook`(setting: Setting) throws {
        try hook("hooks/any", "echo ran > log")
        let number = try entry().entry
        try database.choose(setting, setting == .master ? "off" : "on")
        let runner = runner()
        let queue = PresentationQueue(database, loop: loop, presenter: nil, hooks: runner, sounds: nil)
        queue.entriesArrived([number])
        #expect(try database.inbox.entry(number)?.state == .suppressed)
    }
}
