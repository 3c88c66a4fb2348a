// SPDX-License-Identifier: Apache-2.0

import PushSQL
import AgentStore
@testable import DeviceAgent
import PushAPI
import PushDBus
import PushSQLite
import TestSupport
import Testing

/// Checks that a burst of one app does not cover the screen.
struct DesktopBurstTests {
    private let file: DatabaseFile

    init() throws { file = try DatabaseFile() }

    private func desktop() async throws -> (DesktopAgent, ScriptedNotificationServer) {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(session.bus, loop: session.loop)
        session.notificationServer = server
        return (try DesktopAgent(file, session), server)
    }

    private func wait(
        for count: Int, _ desk: DesktopAgent, _ server: ScriptedNotificationServer
    ) async throws -> [ScriptedNotificationServer.Shown] {
        try await desk.settle()
        let text = "\(count) more notification"
        try await desk.session.run(until: "the summary counts \(count)", evidence: { "\(server.shown.map(\.body))" }) {
            server.shown.last?.body.hasPrefix(text) == true
        }
        return server.shown.filter { $0.body.contains(" more notification") }
    }

    private static let sound = #","sound":"default""#

    @Test func `after three banners of an app one banner counts the others, and is updated in place`() async throws {
        let (desk, server) = try await desktop()
        for number in 1...22 { desk.receive("\(number)", Self.sound) }
        let summaries = try await wait(for: 19, desk, server)
        #expect(server.shown.count - summaries.count == 3)
        #expect(summaries.allSatisfy { $0.summary == Sample.app.name && $0.hints[key: "suppress-sound"] != nil })
        desk.receive("later")
        let updated = try await wait(for: 20, desk, server).suffix(1)
        #expect(updated.map(\.replacedID) == [4])
        // The counted entries were shown in the summary, are unread, and made no sound.
        let entries = try desk.database.inbox.newest(countMax: 100)
        #expect(entries.allSatisfy { !$0.isRead })
        #expect(entries.count { $0.effects == "sound:too-many alert" && $0.state == .shown } == 18)
        #expect(entries.count { $0.reason == "too-many" && $0.state == .suppressed } == 1)
        #expect(try desk.database.outboxLines().count { $0.hasSuffix("shown too-many") } == 19)
    }

    @Test func `alerts, critical banners and those that replace another one are never summed up`() async throws {
        let (desk, server) = try await desktop()
        let app = Sample.app.appID
        try desk.agent.settings.set("critical", appID: app, event: "", to: "on")
        for number in 1...3 { desk.receive("\(number)", collapseID: "\(number)") }
        try await desk.settle()
        desk.receive("again", collapseID: "2")
        desk.receive("fire", #","interruption-level":"critical""#)
        try await desk.settle()
        try desk.agent.settings.set("alert", appID: app, event: "", to: "alert")
        desk.receive("stays")
        try await desk.settle()
        #expect(server.shown.map(\.body) == ["1", "2", "3", "again", "fire", "stays"])
    }

    @Test(arguments: ["default", "view", "close"])
    func `a click on a summary opens the list, and Close does not`(action: String) async throws {
        let (desk, server) = try await desktop()
        let list = RecordingList()
        desk.presenter.summaries.list = list
        for number in 1...4 { desk.receive("\(number)") }
        let summary = try await wait(for: 1, desk, server)
        #expect(summary.map(\.body) == ["1 more notification"])
        #expect(summary.first?.actions.contains("default") == true)
        try server.say("ActivationToken", 4, .string("token"))
        try server.say("ActionInvoked", 4, .string(action))
        try await desk.session.run(until: "the summary is closed") { server.closed == [4] }
        #expect(list.tokens == (action == "close" ? [] : ["token"]))
        // The next summary begins at 0.
        desk.receive("more")
        #expect(try await wait(for: 1, desk, server).last?.replacedID == 0)
    }

    @Test(arguments: [false, true])
    func `a summary mutes its app for an hour, unless the administrator forbids it`(isLocked: Bool) async throws {
        let (desk, server) = try await desktop()
        let app = Sample.app.appID
        if isLocked {
            try desk.database.transaction { () throws(SQLError) in
                try desk.database.policy.replaceAll([.init(topic: nil, setting: .muted, value: "off", isLocked: true)])
            }
        }
        let list = RecordingList()
        desk.presenter.summaries.list = list
        for number in 1...4 { desk.receive("\(number)") }
        let actions = try #require(try await wait(for: 1, desk, server).first?.actions)
        let first = isLocked ? ["close", "Close"] : ["mute", "Mute for One Hour"]
        #expect(actions == ["default", "View"] + first + ["view", "View"])
        try server.say("ActionInvoked", 4, .string("mute"))
        try await desk.session.run(until: "the summary is closed") { server.closed.contains(4) }
        let muted = try desk.agent.settings.setting("muted", appID: app, event: "").text
        #expect(muted.hasPrefix("until ") == !isLocked)
        desk.receive("later")
        try await desk.settle()
        let later = try #require(try desk.database.inbox.newest(countMax: 1).first)
        #expect((later.reason == "app-muted") == !isLocked)
    }

    @Test func `a summary leaves the screen with the last entry that it counts`() async throws {
        let (desk, server) = try await desktop()
        for number in 1...5 { desk.receive("\(number)") }
        _ = try await wait(for: 2, desk, server)
        try desk.agent.inbox.remove(4)
        _ = try await wait(for: 1, desk, server)
        _ = try desk.agent.inbox.clear(appID: nil)
        try await desk.session.run(until: "all are closed") { Set(server.closed) == [1, 2, 3, 4] }
    }

    @Test func `without a panel, a summary names the command that lists the notifications`() async throws {
        let (desk, server) = try await desktop()
        for number in 1...4 { desk.receive("\(number)") }
        let summary = try await wait(for: 1, desk, server)
        #expect(summary.map(\.body) == ["1 more notification\nTo read, run: posthorn inbox"])
    }
}

private final class RecordingList: NotificationList {
    let canOpen = true
    var tokens: [String?] = []
    func open(activationToken: String?) { tokens.append(activationToken) }
}
