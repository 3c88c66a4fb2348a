// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks alerts whose notification server ends.
///
/// The next server shows the alerts again that stay until they are answered.
struct DesktopReturnTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    /// Starts a desktop with an agent on which the app's alerts have a style.
    private func desktop(
        _ style: AlertStyle, serverName: String = "scripted", words: [String: String] = [:]
    ) async throws -> DesktopAgent {
        let session = try DesktopSession(await DesktopBus())
        session.notificationServer = try ScriptedNotificationServer(
            session.bus, loop: session.loop, name: serverName)
        let desk = try DesktopAgent(file, session, words: words)
        try desk.database.choose(.alert, style.rawValue, for: "org.example.Mail")
        return desk
    }

    /// Ends the server, starts another one, and waits until the agent has noticed both.
    private func restartServer(
        _ desk: DesktopAgent, prepare: (ScriptedNotificationServer) -> Void = { _ in }
    ) async throws -> ScriptedNotificationServer {
        let session = desk.session
        session.notificationServer = nil
        try await session.run(until: "the server is gone") { !desk.presenter.isAvailable }
        let next = try ScriptedNotificationServer(session.bus, loop: session.loop)
        session.notificationServer = next
        prepare(next)
        try await session.run(until: "the next is there") { desk.presenter.isAvailable }
        return next
    }

    private func bodies(_ server: ScriptedNotificationServer) -> [String] { server.shown.map(\.body) }

    @Test func `unanswered alerts return in order and without sound`() async throws {
        let desk = try await desktop(.alert)
        for text in ["one", "two", "three"] { desk.receive(text, #","sound":"default""#) }
        try await desk.settle()
        try desk.session.notificationServer?.say("NotificationClosed", 2, .uint32(2))
        try await desk.session.run(until: "the second is closed") { try desk.states()[1] == .closed }
        let next = try await restartServer(desk)
        try await desk.session.run(until: "two came back") { next.shown.count == 2 }
        #expect(bodies(next) == ["one", "three"])
        #expect(next.shown.allSatisfy { $0.hints[key: "suppress-sound"] == .bool(true) })
        #expect(try desk.states() == [.shown, .closed, .shown])
        // These alerts are answered like any other.
        try next.say("ActionInvoked", 2, .string("close"))
        try await desk.session.run(until: "the third is closed") { try desk.states()[2] == .closed }
        #expect(try desk.database.outboxLines().suffix(1) == ["3 closed"])
    }

    @Test func `an alert that returns has its earlier text, in the app's own words`() async throws {
        let desk = try await desktop(.alert, words: ["DOOR_ANSWER": "Answer Now"])
        desk.receive(alert: #"{"body":"Somebody rings","action-loc-key":"DOOR_ANSWER"}"#)
        try await desk.settle()
        let first = try #require(desk.session.notificationServer?.shown.first)
        #expect(first.actions.contains("Answer Now"))
        let next = try await restartServer(desk)
        try await desk.session.run(until: "it came back") { next.shown.count == 1 }
        #expect(next.shown[0].actions == first.actions)
    }

    @Test func `banners do not return`() async throws {
        let desk = try await desktop(.banner)
        desk.receive("one")
        try await desk.settle()
        let next = try await restartServer(desk)
        desk.receive("two")
        try await desk.session.run(until: "the next is shown") { !next.shown.isEmpty }
        try await desk.settle()
        #expect(bodies(next) == ["two"])
    }

    @Test(arguments: [Setting.master, .doNotDisturb])
    func `an alert that current settings suppress does not return`(setting: Setting) async throws {
        let desk = try await desktop(.alert)
        desk.receive("one")
        try await desk.settle()
        try desk.database.choose(setting, setting == .master ? "off" : "on")
        let next = try await restartServer(desk)
        try await desk.session.run(until: "it is forgotten") { try desk.database.alerts.unanswered().isEmpty }
        #expect(next.shown.isEmpty)
    }

    @Test func `a newer alert with the same collapse ID replaces one that returned`() async throws {
        let desk = try await desktop(.alert)
        desk.receive("old", collapseID: "x")
        try await desk.settle()
        desk.session.notificationServer = nil
        try await desk.session.run(until: "the server is gone") { !desk.presenter.isAvailable }
        desk.receive("new", collapseID: "x")
        let next = try ScriptedNotificationServer(desk.session.bus, loop: desk.session.loop)
        desk.session.notificationServer = next
        try await desk.settle()
        #expect(bodies(next) == ["old", "new"])
        #expect(next.shown.map(\.replacedID) == [0, 1])
    }

    @Test func `an alert that was replaced in the meantime does not return`() async throws {
        let desk = try await desktop(.alert)
        desk.receive("old", collapseID: "x")
        try await desk.settle()
        desk.session.notificationServer = nil
        // The agent notices the new server only after it has passed on the newer alert.
        let next = try ScriptedNotificationServer(desk.session.bus, loop: desk.session.loop)
        desk.session.notificationServer = next
        desk.receive("new", collapseID: "x")
        try await desk.session.run(until: "the older is forgotten") {
            try next.shown.count == 1 && desk.database.alerts.unanswered().map(\.entry) == [2]
        }
        desk.receive("later")
        try await desk.settle()
        #expect(bodies(next) == ["new", "later"])
    }

    @Test func `an agent that starts after the notification server ended shows its alerts again once`() async throws {
        var desk: DesktopAgent? = try await desktop(.alert)
        let session = try #require(desk?.session)
        desk?.receive("one")
        try await desk?.settle()
        desk = nil
        session.notificationServer = nil
        let later = try DesktopSession(session.bus)
        let server = try ScriptedNotificationServer(later.bus, loop: later.loop)
        later.notificationServer = server
        let next = try DesktopAgent(file, later)
        try await later.run(until: "it came back") { server.shown.count == 1 }
        next.receive("two")
        try await next.settle()
        #expect(bodies(server) == ["one", "two"])
    }

    @Test func `an alert that was refused on its return survives the agent's end`() async throws {
        let bus = try await DesktopBus()
        do {
            let session = try DesktopSession(bus)
            session.notificationServer = try ScriptedNotificationServer(bus, loop: session.loop)
            let desk = try DesktopAgent(file, session)
            try desk.database.choose(.alert, "alert", for: "org.example.Mail")
            desk.receive("one")
            try await desk.settle()
            let next = try await restartServer(desk) {
                $0.refusal = BusError(name: BusError.failedName, message: "not now")
            }
            try await session.run(until: "the agent has tried") { next.notifyCount > 0 }
            // The alert was never displayed, so it must be saved before the agent ends.
            try await session.run(until: "it is remembered") { try desk.database.alerts.location(of: 1) != nil }
        }
        let later = try DesktopSession(bus)
        let server = try ScriptedNotificationServer(bus, loop: later.loop)
        later.notificationServer = server
        let next = try DesktopAgent(file, later)
        try await later.run(until: "it came back") { self.bodies(server) == ["one"] }
        #expect(try next.states() == [.shown])
    }

    @Test func `GNOME loses alerts with the agent, and the next agent shows them again in their places`() async throws {
        for (name, replacedIDs) in [("gnome-shell", [0, 1]), ("scripted", [0])] as [(String, [UInt32])] {
            let file = try DatabaseFile()
            let first = try DesktopSession(await DesktopBus())
            let server = try ScriptedNotificationServer(first.bus, loop: first.loop, name: name)
            do {
                let desk = try DesktopAgent(file, first)
                try desk.database.choose(.alert, "alert", for: "org.example.Mail")
                desk.receive("one")
                try await desk.settle()
            }
            let later = try DesktopSession(first.bus)
            (later.notificationServer, later.earlier) = (server, first)
            let next = try DesktopAgent(file, later)
            next.receive("two")
            try await later.run(until: "the second is shown") { self.bodies(server).contains("two") }
            try await next.settle()
            #expect(server.shown.filter { $0.body == "one" }.map(\.replacedID) == replacedIDs, "\(name)")
        }
    }

    @Test func `an alert that crashes the notification server returns only a few times`() async throws {
        let desk = try await desktop(.alert)
        desk.receive("poison")
        try await desk.settle()
        var count = 0
        while true {
            let next = try await restartServer(desk)
            desk.receive("marker \(count)")
            try await desk.session.run(until: "the marker is shown") {
                self.bodies(next).contains("marker \(count)")
            }
            guard bodies(next).contains("poison") else { break }
            count += 1
            try #require(count < 20)
        }
        #expect(count == 5)
    }
}
