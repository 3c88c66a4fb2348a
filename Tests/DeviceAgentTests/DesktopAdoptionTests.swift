// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks a presenter's handling of alerts that an earlier presenter showed.
struct DesktopAdoptionTests {
    private let order = Alert(
        entry: 1, appID: "org.posthorn.Test", appName: "Orders", title: "New order", collapseID: "order")

    /// Starts a desktop where a presenter showed the alert and ended, and the next presenter has not adopted it yet.
    private func restarted() async throws -> (
        DesktopSession, ScriptedNotificationServer, DesktopPresenter, AlertLocation
    ) {
        let bus = try await DesktopBus()
        let first = try DesktopSession(bus)
        let session = try DesktopSession(bus)
        let server = try ScriptedNotificationServer(bus, loop: first.loop)
        #expect(try await first.present(order, with: try first.presenter()) == .shown(playsSound: false))
        let location = try #require(first.locations[1])
        // The server outlives the first session, so the second session keeps running its loop.
        session.notificationServer = server
        session.earlier = first
        return (session, server, try session.presenter(), location)
    }

    @Test func `View on an adopted alert is its outcome`() async throws {
        let (session, server, presenter, location) = try await restarted()
        presenter.adopt([(order, location)])
        try server.say("ActionInvoked", 1, .string("view"))
        try await session.run(until: "there is an outcome") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, .view(activationToken: nil))])
        try await session.run(until: "the alert is closed") { server.closed == [1] }
    }

    @Test func `an adopted alert is withdrawn`() async throws {
        let (session, server, presenter, location) = try await restarted()
        presenter.adopt([(order, location)])
        presenter.withdraw(entries: [1])
        try await session.run(until: "the alert is closed") { server.closed == [1] }
    }

    @Test func `an adopted alert is replaced by the next one with its collapse ID`() async throws {
        let (session, server, presenter, location) = try await restarted()
        presenter.adopt([(order, location)])
        var next = order
        next.entry = 2
        #expect(try await session.present(next, with: presenter) == .shown(playsSound: false))
        #expect(server.shown.map(\.replacedID) == [0, 1])
        #expect(session.locations == [2: location])
    }

    @Test(arguments: ["", "another bus :1.0"])
    func `an alert of another server is forgotten, and its number is not used`(owner: String) async throws {
        let (session, server, presenter, _) = try await restarted()
        let location = AlertLocation(owner: owner, number: 1)
        session.alertShown(1, at: location)
        presenter.adopt([(order, location)])
        #expect(session.locations.isEmpty)
        presenter.withdraw(entries: [1])
        var next = order
        next.entry = 2
        #expect(try await session.present(next, with: presenter) == .shown(playsSound: false))
        #expect(server.shown.map(\.replacedID) == [0, 0])
        #expect(server.closed.isEmpty)
    }

    @Test func `an alert of another server in the same session is lost, and may return`() async throws {
        let (session, server, presenter, _) = try await restarted()
        let location = AlertLocation(owner: "\(try session.connection.busID()) :9.9", number: 1)
        session.alertShown(1, at: location)
        presenter.adopt([(order, location)])
        #expect(session.lost == [1])
        #expect(session.locations == [1: location])
        presenter.withdraw(entries: [1])
        var next = order
        next.entry = 2
        #expect(try await session.present(next, with: presenter) == .shown(playsSound: false))
        #expect(server.shown.map(\.replacedID) == [0, 0])
        #expect(server.closed.isEmpty)
    }

    @Test func `an alert that has ended has no place on the screen`() async throws {
        let bus = try await DesktopBus()
        let session = try DesktopSession(bus)
        let server = try ScriptedNotificationServer(bus, loop: session.loop)
        let presenter = try session.presenter()
        for entry in (1...3).map(EntryID.init(rawValue:)) {
            _ = try await session.present(Alert(entry: entry, appID: "a", appName: "a"), with: presenter)
        }
        #expect(session.locations.keys.sorted() == [1, 2, 3])
        try server.say("NotificationClosed", 1, .uint32(1))
        try server.say("ActionInvoked", 2, .string("view"))
        presenter.withdraw(entries: [3])
        try await session.run(until: "all are gone") { session.locations.isEmpty }
    }
}
