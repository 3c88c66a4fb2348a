// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushDBus
import TestSupport
import Testing

/// Checks repeated alerts on Plasma, which refuses an alert that looks like the previous one within a second.
@Suite(.tags(.slow))
struct DesktopRepetitionTests {
    /// Different texts that look the same, because control characters are removed.
    ///
    /// The agent shows an alert for each of them.
    private static let lookAlikes = ["same", #"same\u0007"#, #"same\u0008"#]
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    private func desktop() async throws -> (DesktopAgent, ScriptedNotificationServer) {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop, name: "Plasma")
        server.refusesRepetitions = true
        session.notificationServer = server
        return (try DesktopAgent(file, session), server)
    }

    @Test func `notifications that look the same are all shown once, in order`() async throws {
        let (desk, server) = try await desktop()
        // A fourth banner of an app would be summed up.
        try desk.database.choose(.alert, "alert", for: Sample.app.appID)
        for text in Self.lookAlikes + ["other"] { desk.receive(text) }
        try await desk.settle()
        #expect(server.refusedCount == 2)
        #expect(server.shown.map(\.body) == ["same", "same", "same", "other"])
        #expect(try desk.states() == Array(repeating: .shown, count: 4))
        #expect(try desk.database.outboxLines().filter { $0.hasSuffix(" shown") } == (1...4).map { "\($0) shown" })
    }

    @Test func `an agent that ends before its retry shows the alert after a restart`() async throws {
        let server: ScriptedNotificationServer
        let session: DesktopSession
        do {
            let (desk, its) = try await desktop()
            (session, server) = (desk.session, its)
            for text in Self.lookAlikes.prefix(2) { desk.receive(text) }
            try await session.run(until: "one is refused") {
                try its.refusedCount == 1 && desk.states() == [.shown, .waiting]
            }
        }
        let next = try DesktopAgent(file, session)
        try await next.settle()
        #expect(server.shown.map(\.body) == ["same", "same"])
    }
}
