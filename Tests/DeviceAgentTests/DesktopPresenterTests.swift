// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushDBus
import TestSupport
import Testing

struct DesktopPresenterTests {
    // MARK: Outcomes

    @Test func `the token that precedes the action is reported with View once`() async throws {
        let (session, server, presenter) = try await desktop()
        try await show(order, session, presenter)
        try server.say("ActivationToken", 1, .string("token-1"))
        try server.say("ActionInvoked", 1, .string("default"))
        try server.say("ActionInvoked", 1, .string("view"))
        try server.say("NotificationClosed", 1, .uint32(2))
        try await session.run(until: "the alert is closed") { server.closed == [1] }
        #expect(session.outcomes == [.init(1, .view(activationToken: "token-1"))])
    }

    @Test func `a token belongs to the alert with its number, whatever arrives in between`() async throws {
        let (session, server, presenter) = try await desktop()
        for entry in (1...3).map(EntryID.init(rawValue:)) {
            var alert = order
            alert.entry = entry
            try await show(alert, session, presenter)
        }
        for (id, token) in [(1, "token-1"), (2, "token-2")] as [(UInt32, String)] {
            try server.say("ActivationToken", id, .string(token))
        }
        for id in [3, 2, 1] as [UInt32] { try server.say("ActionInvoked", id, .string("view")) }
        try await session.run(until: "all have an outcome") { session.outcomes.count == 3 }
        #expect(
            session.outcomes == [
                .init(3, .view(activationToken: nil)), .init(2, .view(activationToken: "token-2")),
                .init(1, .view(activationToken: "token-1")),
            ])
    }

    @Test(arguments: ["", "with blank", "tab\t", "del\u{7f}", String(repeating: "a", count: 1025)])
    func `an invalid token is left out`(token: String) async throws {
        let (session, server, presenter) = try await desktop()
        try await show(order, session, presenter)
        try server.say("ActivationToken", 1, .string(token))
        try server.say("ActionInvoked", 1, .string("view"))
        try await session.run(until: "there is an outcome") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, .view(activationToken: nil))])
    }

    @Test(arguments: [
        ("NotificationClosed", BusValue.uint32(1), AlertOutcome.expired),
        ("NotificationClosed", .uint32(2), .dismissed), ("NotificationClosed", .uint32(3), .expired),
        ("NotificationClosed", .uint32(4), .expired), ("NotificationClosed", .string("odd"), .expired),
        ("ActionInvoked", .string("close"), .dismissed), ("ActionInvoked", .string("ok"), .dismissed),
        ("ActionInvoked", .string("view"), .view(activationToken: nil)),
        ("ActionInvoked", .string("default"), .view(activationToken: nil)),
    ])
    func `each signal has its outcome`(member: String, detail: BusValue, outcome: AlertOutcome) async throws {
        let (session, server, presenter) = try await desktop()
        try await show(order, session, presenter)
        try server.say(member, 1, detail)
        try await session.run(until: "there is an outcome") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, outcome)])
    }

    @Test func `signals with other numbers, unknown actions and invalid arguments have no outcome`() async throws {
        let (session, server, presenter) = try await desktop()
        try await show(order, session, presenter)
        try server.say("ActionInvoked", 2, .string("view"))
        try server.say("ActionInvoked", 1, .string("inline-reply"))
        try server.say("ActionInvoked", 1, .int32(7))
        try server.connection.emit(
            ScriptedNotificationServer.path, ScriptedNotificationServer.busName, "ActionInvoked", [.string("view")])
        try server.connection.emit(
            ScriptedNotificationServer.path, ScriptedNotificationServer.busName, "ActionInvoked", [])
        try server.say("ActionInvoked", 1, .string("close"))
        try await session.run(until: "there is an outcome") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, .dismissed)])
    }

    @Test func `a click that another program forges has no outcome`() async throws {
        let bus = try await DesktopBus()
        let session = try DesktopSession(bus)
        let server = try ScriptedNotificationServer(bus, loop: session.loop)
        let presenter = try session.presenter()
        try await show(order, session, presenter)
        // This is sent directly to us, so no subscription filters it.
        try await bus.busctl(
            "emit", "--destination=\(session.connection.uniqueName)", ScriptedNotificationServer.path,
            ScriptedNotificationServer.busName, "ActionInvoked", "us", "1", "view"
        ).succeeded()
        try server.say("NotificationClosed", 1, .uint32(2))
        try await session.run(until: "there is an outcome") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, .dismissed)])
    }

    @Test func `a click on an alert without View only dismisses it, whatever the server calls it`() async throws {
        let (session, server, presenter) = try await desktop()
        var alert = order
        alert.viewLabel = nil
        try await show(alert, session, presenter)
        #expect(server.shown[0].actions == ["ok", "OK"])
        try server.say("ActionInvoked", 1, .string("default"))
        try await session.run(until: "there is an outcome") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, .dismissed)])
    }

    // MARK: Replacing, withdrawing, refusing

    @Test func `an alert replaces only one with its collapse ID and app`() async throws {
        let (session, server, presenter) = try await desktop()
        for (entry, appID, collapseID) in [
            (1, "org.posthorn.A", "x"), (2, "org.posthorn.B", "x"), (3, "org.posthorn.A", "y"),
            (4, "org.posthorn.A", nil), (5, "org.posthorn.A", "x"), (6, "org.posthorn.A", nil),
        ] as [(EntryID, AppID, String?)] {
            let alert = Alert(entry: entry, appID: appID, appName: "App", collapseID: collapseID)
            try await show(alert, session, presenter)
        }
        #expect(server.shown.map(\.replacedID) == [0, 0, 0, 0, 1, 0])
        #expect(Set(server.shown.compactMap { $0.hints[key: "x-dunst-stack-tag"]?.stringValue }).count == 3)
        #expect(
            server.shown.allSatisfy {
                $0.hints[key: "x-dunst-stack-tag"] == $0.hints[key: "x-canonical-private-synchronous"]
            })
        #expect(server.shown[3].hints[key: "x-dunst-stack-tag"] == nil)
    }

    @Test func `alerts that are passed at the same time are shown in order`() async throws {
        let (session, server, presenter) = try await desktop()
        var answers: [EntryID] = []
        for entry in (1...10).map(EntryID.init(rawValue:)) {
            presenter.present(Alert(entry: entry, appID: "a", appName: "\(entry)", collapseID: "x")) { _ in
                answers.append(entry)
            }
        }
        try await session.run(until: "all are answered") { answers.count == 10 }
        #expect(answers.map(\.rawValue) == Array(1...10))
        #expect(server.shown.map(\.summary) == (1...10).map { "\($0)" })
        #expect(server.shown.map(\.replacedID) == [0] + Array(repeating: 1, count: 9))
    }

    @Test func `an alert that is withdrawn while it is sent is closed, and a waiting one is not shown`() async throws {
        let (session, server, presenter) = try await desktop()
        var answers: [AlertPresented] = []
        for entry in (1...3).map(EntryID.init(rawValue:)) {
            presenter.present(Alert(entry: entry, appID: "a", appName: "\(entry)")) { answers.append($0) }
        }
        presenter.withdraw(entries: [1, 2])
        try await session.run(until: "all are answered") { answers.count == 3 && server.closed == [1] }
        #expect(answers[0] == .unavailable("withdrawn before it was shown"))
        #expect(answers[1...] == [.shown(playsSound: true), .shown(playsSound: false)])
        #expect(server.shown.map(\.summary) == ["1", "3"])
        try await session.run(until: "the delegate hears that it may try again") { session.availableCount == 1 }
    }

    @Test func `a server that refuses is tried again later`() async throws {
        let (session, server, presenter) = try await desktop()
        server.refusal = BusError(
            name: "org.freedesktop.Notifications.Error.ExcessNotificationGeneration", message: "too fast")
        let answer = try await session.present(order, with: presenter)
        #expect(
            answer == .unavailable("org.freedesktop.Notifications.Error.ExcessNotificationGeneration: too fast"))
        #expect(presenter.isAvailable)
        server.refusal = nil
        try await session.run(until: "the delegate hears that it may try again") { session.availableCount == 1 }
        try await show(order, session, presenter)
    }

    @Test func `an alert over the maximum of waiting ones is refused`() async throws {
        let (session, _, presenter) = try await desktop()
        var answers: [EntryID: AlertPresented] = [:]
        for entry in (1...65).map(EntryID.init(rawValue:)) {
            presenter.present(Alert(entry: entry, appID: "a", appName: "a")) { answers[entry] = $0 }
        }
        #expect(Array(answers.keys) == [65])
        try await session.run(until: "all are answered") { answers.count == 65 }
        #expect(answers[64] == .shown(playsSound: false))
    }

    @Test func `the oldest alert is closed when there are more than the presenter tracks`() async throws {
        let (session, server, presenter) = try await desktop()
        for entry in (1...257).map(EntryID.init(rawValue:)) {
            try await show(Alert(entry: entry, appID: "a", appName: "a"), session, presenter)
        }
        try await session.run(until: "the oldest is taken off") { server.closed == [1] }
        #expect(session.outcomes == [.init(1, .expired)])
    }

    @Test func `a server that went away is forgotten with its numbers`() async throws {
        let bus = try await DesktopBus()
        let session = try DesktopSession(bus)
        var server: ScriptedNotificationServer? = try ScriptedNotificationServer(bus, loop: session.loop)
        let presenter = try session.presenter()
        try await show(order, session, presenter)
        server = nil
        try await session.run(until: "the presenter notices") { !presenter.isAvailable }
        let next = try ScriptedNotificationServer(bus, loop: session.loop, name: "next")
        try await session.run(until: "the delegate hears of it") { session.availableCount == 1 }
        try next.say("ActionInvoked", 1, .string("view"))
        var alert = order
        alert.entry = 2
        try await show(alert, session, presenter)
        #expect(next.shown.map(\.replacedID) == [0])
        #expect(session.outcomes.isEmpty)
        #expect(server == nil)
    }

    // MARK: Helpers

    private let order = Alert(entry: 1, appID: "org.posthorn.Test", appName: "Orders", title: "New order")

    private func desktop() async throws -> (DesktopSession, ScriptedNotificationServer, DesktopPresenter) {
        let bus = try await DesktopBus()
        let session = try DesktopSession(bus)
        let server = try ScriptedNotificationServer(bus, loop: session.loop)
        session.notificationServer = server
        return (session, server, try session.presenter())
    }

    private func show(_ alert: Alert, _ session: DesktopSession, _ presenter: DesktopPresenter) async throws {
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
    }
}
