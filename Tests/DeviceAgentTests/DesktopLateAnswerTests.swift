// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks that each alert is sent once to a notification server that answers late or without a number.
struct DesktopLateAnswerTests {
    private let file: DatabaseFile
    /// The session of the server, which answers only while the session's loop runs.
    private let other: DesktopSession
    private let server: ScriptedNotificationServer
    private let desk: DesktopAgent

    init() async throws {
        file = try DatabaseFile()
        other = try DesktopSession(await DesktopBus())
        server = try ScriptedNotificationServer(other.bus, loop: other.loop)
        let session = try DesktopSession(other.bus)
        session.earlier = other
        desk = try DesktopAgent(file, session, answerTimeout: .milliseconds(300))
        try desk.database.choose(.alert, "alert", for: "org.example.Mail")
        desk.receive("first")
        try await desk.settle()
    }

    /// Stops the server, sends it alerts, and waits until their delivery is uncertain.
    private func doubt(_ texts: [String], collapseID: String? = nil) async throws {
        desk.session.earlier = nil
        for text in texts { desk.receive(text, collapseID: collapseID) }
        try await desk.settle()
        #expect(try desk.states().allSatisfy { $0 == .shown })
        let reason = try desk.database.inbox.newest(countMax: 1)[0].reason
        #expect(reason.hasPrefix("the notification server did not confirm"))
        #expect(try desk.database.outboxLines().filter { $0.hasSuffix(" shown") } == ["1 shown"])
    }

    private func goOn(until what: String, _ condition: () throws -> Bool) async throws {
        desk.session.earlier = other
        try await desk.session.run(until: what) { try condition() }
    }

    @Test func `an alert whose server answers late is shown once, and its clicks work`() async throws {
        try await doubt(["second", "third"])
        try await goOn(until: "the answers came") { try desk.database.alerts.unanswered().count == 3 }
        #expect(server.shown.map(\.body) == ["first", "second", "third"])
        #expect(try desk.database.outboxLines().suffix(2) == ["2 shown", "3 shown"])
        #expect(try desk.database.inbox.entry(3)?.reason == "")
        try server.say("ActionInvoked", 3, .string("close"))
        try await desk.session.run(until: "it is closed") { try desk.states()[2] == .closed }
        #expect(server.shown.count == 3)
    }

    @Test func `an alert that is cleared before its server's late answer leaves the screen`() async throws {
        try await doubt(["second"])
        _ = try desk.agent.inbox.clear(appID: nil)
        try await goOn(until: "both are taken off") { Set(server.closed) == [1, 2] }
    }

    @Test func `only the newest alert with a collapse ID stays`() async throws {
        try await doubt(["old", "new"], collapseID: "x")
        try await goOn(until: "the older is taken off") { server.closed == [2] }
        #expect(try desk.database.alerts.unanswered().map(\.entry) == [1, 3])
    }

    @Test func `an alert for which the server returned no number is not shown again`() async throws {
        server.givesNoNumbers = true
        for text in ["second", "third"] { desk.receive(text) }
        try await desk.settle()
        #expect(server.shown.map(\.body) == ["first", "second", "third"])
        #expect(try desk.states() == [.shown, .shown, .shown])
    }
}
