// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushDBus
import TestSupport
import Testing

/// Checks alerts that form a thread by their `thread-id`.
struct DesktopThreadTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    private func desktop(_ capabilities: [String]) async throws -> (DesktopAgent, ScriptedNotificationServer) {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop, capabilities: capabilities)
        session.notificationServer = server
        return (try DesktopAgent(file, session), server)
    }

    private static let lunch = #","thread-id":"lunch""#

    @Test func `a thread has one window, with the newest alert and the number of earlier ones`() async throws {
        let (desk, server) = try await desktop(["actions", "body"])
        desk.receive("one", Self.lunch)
        desk.receive("other", #","thread-id":"dinner""#)
        desk.receive("two", Self.lunch)
        desk.receive("three", Self.lunch)
        try await desk.settle()
        #expect(server.shown.map(\.body) == ["one", "other", "two\nand 1 more", "three\nand 2 more"])
        #expect(server.shown.map(\.replacedID) == [0, 0, 1, 1])
        #expect(try desk.database.inbox.entry(4)?.threadID == "lunch")
    }

    @Test func `a server that keeps a list gets each alert`() async throws {
        let (desk, server) = try await desktop(["actions", "body", "persistence"])
        for text in ["one", "two"] { desk.receive(text, Self.lunch) }
        try await desk.settle()
        #expect(server.shown.map(\.body) == ["one", "two"])
        #expect(server.shown.map(\.replacedID) == [0, 0])
    }

    @Test(arguments: ["view", "close"])
    func `an answer to the newest alert answers the earlier ones`(action: String) async throws {
        let (desk, server) = try await desktop(["actions", "body"])
        for text in ["one", "two"] { desk.receive(text, Self.lunch) }
        try await desk.settle()
        try server.say("ActionInvoked", 1, .string(action))
        try await desk.session.run(until: "it is answered") { try desk.states()[1] != .shown }
        desk.receive("three", Self.lunch)
        try await desk.settle()
        #expect(server.shown.last?.body == "three")
        #expect(try desk.states()[0] == .shown)
    }

    @Test func `alerts with one collapse ID count once, and it overrides the thread`() async throws {
        let (desk, server) = try await desktop(["actions", "body"])
        desk.receive("one", Self.lunch, collapseID: "x")
        desk.receive("two", Self.lunch, collapseID: "x")
        desk.receive("alone", collapseID: "y")
        try await desk.settle()
        desk.receive("three", Self.lunch, collapseID: "y")
        try await desk.settle()
        #expect(server.shown.map(\.body) == ["one", "two", "alone", "three\nand 1 more"])
        #expect(server.shown.map(\.replacedID) == [0, 1, 0, 3])
    }

    @Test func `the count continues after a restart of the agent`() async throws {
        let server: ScriptedNotificationServer
        let session: DesktopSession
        do {
            let (desk, its) = try await desktop(["actions", "body"])
            (session, server) = (desk.session, its)
            desk.receive("one", Self.lunch)
            try await desk.settle()
        }
        let next = try DesktopAgent(file, session)
        next.receive("two", Self.lunch)
        try await next.settle()
        #expect(server.shown.map(\.body) == ["one", "two\nand 1 more"])
        #expect(server.shown.map(\.replacedID) == [0, 1])
    }
}
