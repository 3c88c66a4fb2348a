// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentStore
@testable import DeviceAgent
import Foundation
import PushAPI
import PushCore
@testable import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Runs filters that change the alerts of an agent, and filters that fail in every way.
struct FilterTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let mutable = #"{"aps":{"alert":{"title":"T","body":"sealed"},"mutable-content":1},"n":1}"#
    private static let plain = #"{"aps":{"alert":"plain"}}"#

    private func agent(
        _ script: String, timeLimit: Duration = .seconds(60), badges: (any BadgePresenter)? = nil
    ) throws -> AgentHarness {
        let harness = try AgentHarness(in: directory, badges: badges, filterTimeLimit: timeLimit)
        try harness.agent.start()
        try install(script, harness)
        return harness
    }

    private func install(_ script: String, _ harness: AgentHarness) throws {
        let path = try directory.write(script, to: "filter.sh")
        var mail = Sample.app
        mail.manifestText = Array(#"{"filter":["/bin/sh","\#(path)"]}"#.utf8)
        try harness.database.apps.save(mail)
    }

    private func push(_ payload: String, _ number: UInt64 = 1, collapseID: String? = nil, to harness: AgentHarness) {
        let notification = Sample.notification(number, collapseID: collapseID, payload: payload)
        #expect(harness.agent.link.streamReceived([.notification(notification)]))
    }

    private func state(_ number: EntryID, _ harness: AgentHarness) -> AgentStore.InboxEntry.State? {
        (try? harness.database.inbox.entry(number))?.state
    }

    @Test func `the filter's output is shown, and the inbox keeps the original`() async throws {
        let harness = try agent(
            """
            cat > '\(directory.path(of: "input"))'
            echo '{"aps":{"alert":{"title":"From Anna","body":"opened"}}}'
            """)
        push(Self.mutable, to: harness)
        try await harness.loop.run("it is shown") { state(1, harness) == .shown }
        #expect(harness.screen.hasPrefix("[Example Mail] From Anna\n    opened\n"))
        let entry = try #require(try harness.database.inbox.entry(1))
        #expect(entry.title == "From Anna" && entry.body == "opened" && entry.reason == "")
        #expect(String(decoding: entry.payload, as: UTF8.self) == Self.mutable)
        #expect(try harness.database.outboxLines() == ["1 delivered", "1 shown"])
        let input = directory.read("input")
        #expect(input.hasPrefix(#"{"app_id":"org.example.Mail","#) && input.hasSuffix("\"payload\":\(Self.mutable)}"))
    }

    @Test(arguments: [
        ("true", ""), ("echo no JSON", "the filter's output is not a JSON object"),
        ("echo '[]'", "the filter's output is not a JSON object"),
        ("echo '{}'; exit 3", "the filter ended with status 3"),
        ("echo '{}'; kill -SEGV $$", "the filter was ended by signal 11"),
        ("head -c 1000000 /dev/zero", "the filter wrote more than 65536 bytes"),
        ("exec 0<&-; sleep 1000", "the filter took longer than 1.0 seconds"),
    ])
    func `a filter without output or with an error leaves the original`(script: String, reason: String) async throws {
        let harness = try agent(script, timeLimit: reason.contains("longer") ? .seconds(1) : .seconds(60))
        push(Self.mutable, to: harness)
        try await harness.loop.run("it is shown") { state(1, harness) == .shown }
        #expect(harness.screen.hasPrefix("[Example Mail] T\n    sealed\n"))
        #expect(try harness.database.inbox.entry(1)?.reason == reason)
        #expect(try harness.database.outboxLines() == ["1 delivered", "1 shown"])
    }

    @Test(arguments: ["{}", #"{"aps":{"sound":"default"}}"#])
    func `an answer without an alert shows nothing`(answer: String) async throws {
        let harness = try agent("echo '\(answer)'")
        push(Self.mutable, to: harness)
        try await harness.loop.run("it is decided") { state(1, harness) == .suppressed }
        #expect(harness.screen.isEmpty)
        #expect(try harness.database.inbox.entry(1)?.reason == "filtered")
        let effects = try harness.database.inbox.entry(1)?.effects.split(separator: " ") ?? []
        #expect(!effects.isEmpty && effects.allSatisfy { $0.hasSuffix(":filtered") }, "\(effects)")
        #expect(try harness.database.outboxLines() == ["1 delivered", "1 suppressed filtered"])
    }

    @Test func `settings are applied to the filter's payload`() async throws {
        let dock = Badges()
        let harness = try agent(
            #"echo '{"aps":{"alert":"x","badge":7,"category":"quiet"}}'"#, badges: dock)
        try harness.database.choices.set("off", for: .alert, appID: "org.example.Mail", event: "quiet")
        push(#"{"aps":{"alert":"x","badge":3,"mutable-content":1}}"#, to: harness)
        try await harness.loop.run("it is decided") { state(1, harness) == .suppressed }
        #expect(dock.numbers == [7])
        #expect(try harness.database.inbox.entry(1)?.effects == "badge alert:event-off")
    }

    @Test func `the filter's badge does not become the app's if the event type permits no badge`() async throws {
        let dock = Badges()
        let harness = try agent(
            #"echo '{"aps":{"alert":"x","badge":7,"category":"quiet"}}'"#, badges: dock)
        try harness.database.choices.set("off", for: .badge, appID: "org.example.Mail", event: "quiet")
        push(#"{"aps":{"alert":"x","badge":3,"mutable-content":1}}"#, to: harness)
        try await harness.loop.run("it is shown") { state(1, harness) == .shown }
        #expect(dock.numbers.isEmpty)
        #expect(try harness.database.apps.app(id: "org.example.Mail")?.badge == 0)
    }

    @Test func `other alerts do not wait for a filter, and a sound alone runs none`() async throws {
        let harness = try agent("sleep 1000")
        push(Self.mutable, 1, to: harness)
        push(Self.plain, 2, to: harness)
        push(#"{"aps":{"sound":"default","mutable-content":1}}"#, 3, to: harness)
        #expect(state(1, harness) == .waiting)
        #expect(state(2, harness) == .shown)
        #expect(state(3, harness) == .shown)
    }

    @Test func `an alert that is replaced or cleared while its filter runs is not shown`() async throws {
        let gate = directory.path(of: "gate")
        let harness = try agent(#"while [ ! -e '\#(gate)' ]; do sleep 0.02; done; echo '{"aps":{"alert":"late"}}'"#)
        push(Self.mutable, 1, collapseID: "x", to: harness)
        push(Self.mutable, 2, to: harness)
        #expect(try harness.agent.inbox.clear(appID: "org.example.Mail") == 2)
        push(Self.mutable, 3, collapseID: "y", to: harness)
        push(Self.plain, 4, collapseID: "y", to: harness)
        push(Self.mutable, 5, to: harness)
        try directory.write("", to: "gate")
        try await harness.loop.run("the last is shown") { state(5, harness) == .shown }
        #expect(harness.screen.components(separatedBy: "late").count == 2)
        #expect(try harness.database.inbox.entry(3)?.reason == "replaced")
        #expect(try harness.database.filters.row(of: 1) == nil)
    }

    @Test func `a crash while the filter runs loses nothing and shows nothing twice`() async throws {
        do {
            let harness = try agent("sleep 1000")
            push(Self.mutable, to: harness)
            #expect(try harness.database.filters.due() == [1])
        }
        for _ in 1...2 {
            let harness = try AgentHarness(in: directory)
            try install(#"echo '{"aps":{"alert":"opened"}}'"#, harness)
            try harness.agent.start()
            try await harness.loop.run("it is shown") { state(1, harness) == .shown }
            #expect(try harness.database.outboxLines() == ["1 delivered", "1 shown"])
            #expect(try harness.database.inbox.entry(1)?.body == "opened")
            #expect(try harness.database.filters.due() == [])
        }
    }

    @Test func `a full disk delays an answer until there is space`() async throws {
        try DatabaseFile.makeFillable(directory.path(of: "agent.sqlite"))
        let harness = try agent(#"echo '{"aps":{"alert":"opened"}}'; echo x >> '\#(directory.path(of: "log"))'"#)
        try harness.database.fill(true)
        push(Self.mutable, to: harness)
        try await harness.loop.run("the filter ran without effect") {
            !harness.agent.status(now: .unixEpoch).lastError.isEmpty
        }
        #expect(state(1, harness) == .waiting)
        try harness.database.fill(false)
        try await harness.loop.run("it is shown") { state(1, harness) == .shown }
        #expect(harness.screen.contains("opened"))
        #expect(directory.read("log") == "x\n")
    }

    @Test func `over the limit the oldest waiting alert goes to the inbox only`() async throws {
        let harness = try agent("sleep 1000")
        let count = FilterQueue.runningCountMax + FilterQueue.waitingCountMax
        for number in 1...count + 1 {
            push(#"{"aps":{"alert":"\#(number)","mutable-content":1}}"#, UInt64(number), to: harness)
        }
        let left = (1...count + 1).filter { state(EntryID(rawValue: Int64($0)), harness) == .suppressed }
        #expect(left == [FilterQueue.runningCountMax + 1])
        #expect(try harness.database.inbox.entry(EntryID(rawValue: Int64(left.first ?? 0)))?.reason == "too-many")
    }
}

private final class Badges: BadgePresenter {
    var numbers: [UInt32] = []
    func setBadge(_ count: UInt32, appID: AppID) { numbers.append(count) }
}
