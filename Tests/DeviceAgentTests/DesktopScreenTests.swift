// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Shows alerts on real notification servers and a virtual screen, and clicks on them with its pointer.
@Suite(.tags(.slow))
struct DesktopScreenTests {
    /// A place to click, and the expected outcome.
    struct Click: Sendable {
        var server: DesktopScreen.Server
        var name: String
        var button = 1
        var place: @Sendable (DesktopScreen.Frame) -> DesktopScreen.Place
        var outcome: AlertOutcome
    }

    /// The places of the buttons, which come from screenshots: Close is left of View.
    static let clicks: [Click] = [
        Click(
            server: .notificationDaemon, name: "View", place: { $0.place(fromRight: 79, fromBottom: 39) },
            outcome: .view(activationToken: nil)),
        Click(
            server: .notificationDaemon, name: "Close", place: { $0.place(fromRight: 134, fromBottom: 39) },
            outcome: .dismissed),
        Click(
            server: .notificationDaemon, name: "the text", place: { $0.place(fromLeft: 120, fromTop: 70) },
            outcome: .view(activationToken: nil)),
        Click(
            server: .notificationDaemon, name: "×", place: { $0.place(fromLeft: 376, fromTop: 29) },
            outcome: .dismissed),
        Click(
            server: .xfce, name: "View", place: { $0.place(fromRight: 57, fromBottom: 31) },
            outcome: .view(activationToken: nil)),
        Click(
            server: .xfce, name: "Close", place: { $0.place(fromRight: 149, fromBottom: 31) }, outcome: .dismissed),
        Click(
            server: .xfce, name: "the text", place: { $0.place(fromLeft: 100, fromTop: 40) }, outcome: .dismissed),
        Click(server: .dunst, name: "left", place: { $0.place(fromLeft: 60, fromTop: 40) }, outcome: .dismissed),
        Click(
            server: .dunst, name: "middle", button: 2, place: { $0.place(fromLeft: 60, fromTop: 40) },
            outcome: .view(activationToken: nil)),
    ]

    @Test(arguments: clicks.indices)
    func `a click on an alert has the outcome of its place, once`(index: Int) async throws {
        let click = DesktopScreenTests.clicks[index]
        let (screen, session, presenter) = try await desktop(with: click.server)
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        try await self.click(click.place, button: click.button, on: screen, session)
        #expect(session.outcomes == [.init(order.entry, click.outcome)], "\(click.server) \(click.name)")
        try await session.run(until: "the alert is off the screen") { try await screen.alertFrames().isEmpty }
        #expect(session.outcomes.count == 1)
    }

    @Test(arguments: [DesktopScreen.Server.notificationDaemon, .xfce])
    func `an alert without View has a single OK that only dismisses it`(server: DesktopScreen.Server) async throws {
        let (screen, session, presenter) = try await desktop(with: server)
        var alert = order
        alert.viewLabel = nil
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        let fromBottom = server == .xfce ? 31 : 39
        try await click({ $0.place(fromRight: 75, fromBottom: fromBottom) }, on: screen, session)
        #expect(session.outcomes == [.init(order.entry, .dismissed)])
    }

    @Test(arguments: DesktopScreen.Server.allCases)
    func `a newer alert with the same collapse ID replaces the older one`(
        server: DesktopScreen.Server
    ) async throws {
        let (screen, session, presenter) = try await desktop(with: server)
        var alert = order
        alert.collapseID = "order 7 \u{1}"
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        alert.entry = 2
        alert.body = "Three coffees"
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        try await session.run(until: "an alert is there") { try await !screen.alertFrames().isEmpty }
        #expect(try await screen.alertFrames().count == 1)
        #expect(session.outcomes.isEmpty)
        try await click({ $0.place(fromLeft: 60, fromTop: 40) }, on: screen, session)
        #expect(session.outcomes.map(\.entry) == [2])
    }

    // notification-daemon is left out, because it reports that it closed the alert and leaves the window open.
    @Test(arguments: [DesktopScreen.Server.dunst, .xfce])
    func `a withdrawn alert leaves the screen without an outcome`(server: DesktopScreen.Server) async throws {
        let (screen, session, presenter) = try await desktop(with: server)
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        try await session.run(until: "the alert is there") { try await screen.alertFrames().count == 1 }
        presenter.withdraw(entries: [order.entry])
        try await session.run(until: "the alert is off the screen") { try await screen.alertFrames().isEmpty }
        #expect(session.outcomes.isEmpty)
    }

    @Test func `a server restart is reported by name, and the next alerts are shown`() async throws {
        let screen = try await DesktopScreen()
        let session = try DesktopSession(screen.bus)
        let presenter = try session.presenter()
        #expect(!presenter.isAvailable)
        guard case .unavailable(let reason) = try await session.present(order, with: presenter) else {
            Issue.record("nothing could have shown the alert")
            return
        }
        #expect(reason.contains("Install one"))
        let first = try await screen.start(.dunst)
        try await session.run(until: "the presenter says that it is available") { session.availableCount == 1 }
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        try await first.killNow()
        try await session.run(until: "the presenter notices") { !presenter.isAvailable }
        try await screen.keepRunning(.notificationDaemon)
        try await session.run(until: "the presenter says that it is available") { session.availableCount == 2 }
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        #expect(session.outcomes.isEmpty)
    }

    @Test func `a server that the bus can start is started by the first alert`() async throws {
        let screen = try await DesktopScreen()
        try await screen.bus.addService("org.freedesktop.Notifications", command: "/usr/bin/dunst")
        let session = try DesktopSession(screen.bus)
        let presenter = try session.presenter()
        #expect(presenter.isAvailable)
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        try await session.run(until: "the alert is there") { try await screen.alertFrames().count == 1 }
    }

    @Test func `an activatable server that fails is not called again until one runs`() async throws {
        let screen = try await DesktopScreen()
        try await screen.bus.addService("org.freedesktop.Notifications", command: "/bin/false")
        let session = try DesktopSession(screen.bus)
        let presenter = try session.presenter()
        guard case .unavailable = try await session.present(order, with: presenter) else {
            Issue.record("nothing could have shown the alert")
            return
        }
        #expect(!presenter.isAvailable)
        try await session.run(until: "it may try again") { session.availableCount == 1 }
        try await screen.keepRunning(.dunst)
        try await session.run(until: "the presenter says that it is available") { session.availableCount == 2 }
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
    }

    // notification-daemon is left out, because it has one window at a time and keeps the others.
    @Test(arguments: [DesktopScreen.Server.dunst, .xfce])
    func `a banner disappears after a while, and an alert stays`(server: DesktopScreen.Server) async throws {
        let (screen, session, presenter) = try await desktop(with: server)
        var alert = order
        alert.style = .banner
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        alert.entry = 2
        alert.style = .alert
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        try await session.run(until: "the banner went") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, .expired)])
        #expect(session.locations.keys.sorted() == [2])
        try await session.run(until: "only the alert is there") { try await screen.alertFrames().count == 1 }
    }

    /// Clicks on the buttons from left to right: Close, View and the app's own.
    ///
    /// The first and last places come from a screenshot.
    @Test(arguments: [
        ("Close", 240, AlertOutcome.dismissed), ("Reply", 57, .action(id: "reply", text: nil, activationToken: nil)),
    ])
    func `under Xfce Close is left of an app's own buttons`(
        name: String, fromRight: Int, outcome: AlertOutcome
    ) async throws {
        let (screen, session, presenter) = try await desktop(with: .xfce)
        var alert = order
        alert.actions = [AppManifest.Action(id: "reply", title: "Reply")]
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        try await click({ $0.place(fromRight: fromRight, fromBottom: 31) }, on: screen, session)
        #expect(session.outcomes == [.init(order.entry, outcome)], "\(name)")
    }

    // MARK: Helpers

    private let order = Alert(
        entry: 1, appID: "org.posthorn.Test", appName: "Orders", icon: "dialog-information", title: "New order",
        subtitle: "Table 4", body: "Two coffees")

    private func desktop(
        with server: DesktopScreen.Server
    ) async throws -> (DesktopScreen, DesktopSession, DesktopPresenter) {
        let screen = try await DesktopScreen()
        try await screen.keepRunning(server)
        let session = try DesktopSession(screen.bus)
        return (screen, session, try session.presenter())
    }

    /// Clicks until there is an effect, because a window may be visible before it accepts clicks.
    private func click(
        _ place: (DesktopScreen.Frame) -> DesktopScreen.Place, button: Int = 1, on screen: DesktopScreen,
        _ session: DesktopSession
    ) async throws {
        try await session.run(until: "a click has an outcome") {
            if !session.outcomes.isEmpty { return true }
            if let frame = try await screen.alertFrames().first { try await screen.click(place(frame), button: button) }
            return !session.outcomes.isEmpty
        }
    }
}
