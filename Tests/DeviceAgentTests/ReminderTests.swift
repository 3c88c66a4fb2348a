// SPDX-License-Identifier: Apache-2.0

import PushSQL
import AgentBus
@testable import AgentStore
@testable import DeviceAgent
import LoopTestSupport
import PushAPI
import PushCore
import PushNet
import PushSQLite
import TestSupport
import Testing

/// Checks what becomes due and what is kept, with a clock that the test drives.
@Suite struct ReminderTests {
    private let file: DatabaseFile
    private let database: AgentDatabase

    init() throws {
        file = try DatabaseFile()
        database = try file.open()
        try database.apps.save(Sample.app)
    }

    private func receive(_ count: UInt64, collapseID: String? = nil, at now: Int64 = 0) throws {
        let first = UInt64(try database.inbox.newest(countMax: 1).first?.entry.rawValue ?? 0) + 1
        let arrivals = (first..<first + count).map {
            Arrival.notification(Sample.notification($0, collapseID: collapseID))
        }
        _ = try Receiver(database).receive(arrivals, now: Timestamp(unixSeconds: now))
    }

    private func settle(_ entry: EntryID, _ state: AgentStore.InboxEntry.State = .closed) throws {
        _ = try database.finish(entry, from: [.waiting, .shown], to: state, .closed)
    }

    private func due(at seconds: Int64) throws -> [EntryID] {
        try database.transaction { () throws(SQLError) in
            try database.takeDueReminders(now: Timestamp(unixSeconds: seconds))
        }
    }

    @Test(arguments: [AgentStore.InboxEntry.State.shown, .viewed, .closed, .suppressed])
    func `an entry becomes due once, at its time, and is then unread and waits`(state: AgentStore.InboxEntry.State)
        throws
    {
        try receive(2)
        try settle(1, state)
        _ = try database.inbox.markRead(1, appID: nil)
        try database.reminders.set(Timestamp(unixSeconds: 100), of: 1)
        #expect(try due(at: 99).isEmpty && database.inbox.entry(1)?.state == state)
        #expect(try due(at: 100) == [1])
        let entry = try #require(try database.inbox.entry(1))
        #expect(entry.state == .waiting && !entry.isRead && entry.reason.isEmpty)
        #expect(try due(at: 1000).isEmpty && database.reminders.all().isEmpty)
    }

    @Test func `a clock that goes back delays reminders, and one that jumps makes all due in their order`() throws {
        try receive(3)
        for (entry, seconds) in [(EntryID(1), Int64(300)), (2, 100), (3, 200)] {
            try settle(entry)
            try database.reminders.set(Timestamp(unixSeconds: seconds), of: entry)
        }
        #expect(try due(at: -1000).isEmpty)
        #expect(try due(at: 1_000_000) == [2, 3, 1])
    }

    @Test func `the server hears nothing more about an entry after its first outcome`() throws {
        try receive(1)
        try settle(1)
        let told = try database.outboxLines()
        try database.reminders.set(Timestamp(unixSeconds: 1), of: 1)
        _ = try due(at: 1)
        _ = try database.finish(1, from: [.waiting], to: .shown, .shown)
        #expect(try database.outboxLines() == told && told.contains("1 closed"))
    }

    @Test func `an entry with a reminder is not deleted as old or surplus, and is after it`() throws {
        try database.choose(.inboxCount, "10")
        try receive(30, at: 1000)
        for entry in 1...30 { try settle(EntryID(rawValue: Int64(entry))) }
        try database.reminders.set(Timestamp(unixSeconds: 50_000_000), of: 2)
        func trim(at seconds: Int64) throws {
            _ = try database.transaction { () throws(SQLError) in
                try database.trimInbox(now: Timestamp(unixSeconds: seconds))
            }
        }
        try trim(at: 1000)
        #expect(try database.inbox.newest(countMax: 100).map(\.entry.rawValue) == (21...30).reversed() + [2])
        for day in 1...40 { try trim(at: 1000 + Int64(day) * 86_400) }
        #expect(try database.inbox.newest(countMax: 100).map(\.entry) == [2])
        try database.reminders.set(nil, of: 2)
        try trim(at: 1000 + 40 * 86_400)
        #expect(try database.inbox.newest(countMax: 100).isEmpty)
    }

    @Test func `clearing an entry, or all of an app, removes the reminder`() throws {
        try receive(2)
        for entry in [EntryID(1), 2] { try database.reminders.set(Timestamp(unixSeconds: 100), of: entry) }
        _ = try database.transaction { () throws(SQLError) in try database.removeInboxEntries([1]) }
        #expect(try database.reminders.all().map(\.entry) == [2])
        _ = try database.transaction { () throws(SQLError) in try database.clearInbox(appID: Sample.app.appID) }
        #expect(try database.reminders.all().isEmpty)
    }

    @Test func `an entry that a newer one replaced appears beside it, and another keeps its place`() throws {
        try receive(1, collapseID: "score")
        try settle(1)
        try receive(1, collapseID: "score")
        _ = try database.finish(2, from: [.waiting], to: .shown, .shown)
        for entry in [EntryID(1), 2] { try database.reminders.set(Timestamp(unixSeconds: 100), of: entry) }
        _ = try due(at: 100)
        #expect(try database.inbox.entry(1)?.replacementKey == nil)
        #expect(try database.inbox.entry(2)?.replacementKey == "score")
    }
}

/// Checks the service with a whole agent and the machine's clock.
struct ReminderServiceTests {
    private static let app = Sample.app.appID
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func agent() throws -> AgentHarness {
        let harness = try AgentHarness(in: directory)
        try harness.database.apps.save(Sample.app)
        try harness.agent.start()
        return harness
    }

    private func receive(_ harness: AgentHarness, _ number: UInt64, payload: String? = nil) {
        #expect(harness.agent.link.streamReceived([.notification(Sample.notification(number, payload: payload))]))
    }

    private func shownCount(_ harness: AgentHarness, _ text: String = "Hello 1") -> Int {
        harness.screen.ranges(of: text).count
    }

    private func refusal(_ harness: AgentHarness, _ entry: EntryID, _ time: Timestamp?) -> AgentErrorCode? {
        do {
            try harness.agent.reminders.remind(of: entry, at: time)
            return nil
        } catch {
            return error.code
        }
    }

    /// Returns an agent that has shown one alert, which the user has put off by a second.
    private func reminded() async throws -> AgentHarness {
        let harness = try agent()
        receive(harness, 1)
        try await harness.loop.run("it is shown") { shownCount(harness) == 1 }
        try harness.agent.reminders.remind(of: 1, at: .now.advanced(bySeconds: 1))
        let entry = try #require(try harness.database.inbox.entry(1))
        #expect(entry.state == .closed && entry.isRead)
        return harness
    }

    @Test func `a reminder closes the alert, and shows it again at its time`() async throws {
        let harness = try await reminded()
        #expect(shownCount(harness) == 1)
        try await harness.loop.run("it is shown again") { shownCount(harness) == 2 }
        #expect(try harness.states() == [.shown] && !harness.database.inbox.newest(countMax: 1)[0].isRead)
        #expect(try harness.agent.reminders.times().isEmpty)
    }

    @Test(arguments: [("do-not-disturb", "on"), ("muted", "until 99999999999"), ("alert", "none"), ("master", "off")])
    func `the settings at the time of the reminder apply, and the entry says so`(
        _ setting: (name: String, value: String)
    ) async throws {
        let harness = try await reminded()
        let isOfDevice = Setting(rawValue: setting.name)?.scopes == [.device]
        try harness.agent.settings.set(
            setting.name, appID: isOfDevice ? nil : Self.app, event: "", to: setting.value)
        try await harness.loop.run("it is suppressed") {
            try harness.database.inbox.entry(1)?.state == .suppressed
        }
        let reasons = ["muted": "app-muted", "alert": "switched-off", "master": "master-off"]
        #expect(try harness.database.inbox.entry(1)?.reason == reasons[setting.name] ?? setting.name)
        #expect(shownCount(harness) == 1)
    }

    @Test func `a reminder that became due while the agent was off appears at its next start`() async throws {
        do {
            let harness = try await reminded()
            try harness.agent.reminders.remind(of: 1, at: .now.advanced(bySeconds: 3600))
            try await harness.stop()
        }
        do {
            // Moves the time instead of the clock.
            let database = try AgentDatabase(path: directory.path(of: "agent.sqlite"))
            #expect(try database.reminders.all().map(\.entry) == [1])
            try database.reminders.set(Timestamp(unixSeconds: 1000), of: 1)
        }
        let harness = try agent()
        try await harness.loop.run("it is shown") { shownCount(harness) == 1 }
        #expect(try harness.states() == [.shown])
    }

    @Test func `a canceled reminder does not appear, and the next one does`() async throws {
        let harness = try await reminded()
        receive(harness, 2)
        try harness.agent.reminders.remind(of: 1, at: nil)
        try harness.agent.reminders.remind(of: 2, at: .now.advanced(bySeconds: 2))
        try await harness.loop.run("the second appears again") {
            shownCount(harness, "Hello 2") == 2
        }
        #expect(shownCount(harness) == 1)
        try harness.agent.reminders.remind(of: 1, at: nil)
    }

    @Test func `times and entries outside the bounds are refused and change nothing`() async throws {
        let harness = try agent()
        receive(harness, 1)
        receive(harness, 2, payload: #"{"aps":{"badge":3}}"#)
        try await harness.loop.run("it is shown") { shownCount(harness) == 1 }
        let (now, year) = (Timestamp.now, Limits.reminderDaysMax * 86_400)
        #expect(refusal(harness, 1, now) == .badValue)
        #expect(refusal(harness, 1, Timestamp(unixSeconds: -5)) == .badValue)
        #expect(refusal(harness, 1, .distantFuture) == .badValue)
        #expect(refusal(harness, 1, now.advanced(bySeconds: year + 60)) == .badValue)
        #expect(refusal(harness, 2, now.advanced(bySeconds: 60)) == .badValue)
        #expect(refusal(harness, 9, now.advanced(bySeconds: 60)) == .unknownEntry)
        #expect(refusal(harness, 9, nil) == .unknownEntry)
        #expect(try harness.states() == [.shown, .shown] && harness.agent.reminders.times().isEmpty)
        #expect(refusal(harness, 1, now.advanced(bySeconds: year - 60)) == nil)
    }

    @Test func `there are at most a hundred reminders, and one can be moved`() async throws {
        let harness = try agent()
        let later = Timestamp.now.advanced(bySeconds: 3600)
        for number in 1...101 { receive(harness, UInt64(number)) }
        for number in 1...100 { try harness.agent.reminders.remind(of: EntryID(rawValue: Int64(number)), at: later) }
        #expect(refusal(harness, 101, later) == .tooMany)
        #expect(refusal(harness, 50, later.advanced(bySeconds: 60)) == nil)
        #expect(try harness.agent.reminders.times()[50] == later.advanced(bySeconds: 60))
        try harness.agent.inbox.remove(1)
        #expect(refusal(harness, 101, later) == nil)
    }

    @Test func `an entry of an app that is no longer registered has no reminder`() async throws {
        let harness = try agent()
        receive(harness, 1)
        try await harness.loop.run("it is shown") { shownCount(harness) == 1 }
        try harness.database.apps.remove(id: Self.app)
        #expect(refusal(harness, 1, .now.advanced(bySeconds: 60)) == .unknownApp)
    }
}

extension AgentHarness {
    /// Returns the states of all entries, oldest first.
    fileprivate func states() throws -> [AgentStore.InboxEntry.State] {
        try database.inbox.newest(countMax: 1000).reversed().map(\.state)
    }
}
