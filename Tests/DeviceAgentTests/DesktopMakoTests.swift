// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushAPI
import PushCore
import PushDBus
import TestSupport
import Testing

/// Shows alerts on mako, which has no buttons, under a Wayland compositor.
///
/// The tests use `makoctl` instead of clicks, because a compositor without a monitor has no pointer.
@Suite(.tags(.slow))
struct DesktopMakoTests {
    private let order = Alert(
        entry: 1, appID: "org.posthorn.Test", appName: "Orders", title: "New order", subtitle: "Table 4",
        body: "Two <coffees>")

    private func desktop(
        _ configuration: String = ""
    ) async throws -> (WaylandScreen, RunningProcess, DesktopSession, DesktopPresenter) {
        let screen = try await WaylandScreen()
        let mako = try await screen.startMako(configuration)
        let session = try DesktopSession(screen.bus)
        return (screen, mako, session, try session.presenter())
    }

    @Test func `an alert is on the screen with its text, and offers Close and View`() async throws {
        let (screen, _, session, presenter) = try await desktop()
        let before = try await screen.picture()
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        try await session.run(until: "it is on the screen") { try await screen.picture() != before }
        let list = try await screen.makoctl(["list"])
        for text in ["Orders", "New order", "Table 4", "Two &lt;coffees&gt;", #""close":"Close""#, #""view":"View""#] {
            #expect(list.contains(text), "\(text): \(list)")
        }
        presenter.withdraw(entries: [order.entry])
        try await session.run(until: "the screen is as it was") { try await screen.picture() == before }
        #expect(session.outcomes.isEmpty)
    }

    @Test(arguments: [
        (["invoke"], AlertOutcome.view(activationToken: nil)),
        (["invoke", "-n", "1", "view"], .view(activationToken: nil)),
        (["invoke", "-n", "1", "close"], .dismissed), (["dismiss"], .dismissed),
    ])
    func `each way to answer counts once`(command: [String], outcome: AlertOutcome) async throws {
        let (screen, _, session, presenter) = try await desktop()
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        try await screen.makoctl(command)
        try await session.run(until: "it is answered") { !session.outcomes.isEmpty }
        try await session.run(until: "it is off the list") { try await !screen.makoctl(["list"]).contains("New order") }
        #expect(session.outcomes.map(\.entry) == [1])
        // The token is the compositor's, if it issues one.
        if case .view = outcome {
            guard case .view? = session.outcomes.first?.outcome else {
                Issue.record("\(session.outcomes)")
                return
            }
        } else {
            #expect(session.outcomes.first?.outcome == outcome)
        }
    }

    @Test func `a newer alert with the same collapse ID replaces the older one`() async throws {
        let (screen, _, session, presenter) = try await desktop()
        var alert = order
        alert.collapseID = "order 7"
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        (alert.entry, alert.body) = (2, "Three coffees")
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        let list = try await screen.makoctl(["list"])
        #expect(list.contains("Three coffees") && !list.contains("Two"), "\(list)")
        try await screen.makoctl(["dismiss"])
        try await session.run(until: "it is answered") { session.outcomes == [.init(2, .dismissed)] }
    }

    @Test func `a banner disappears after a while, and an alert stays`() async throws {
        let (screen, _, session, presenter) = try await desktop("default-timeout=300\n")
        var alert = order
        alert.style = .banner
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        (alert.entry, alert.body, alert.style) = (2, "Three coffees", .alert)
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        try await session.run(until: "the banner went") { !session.outcomes.isEmpty }
        #expect(session.outcomes == [.init(1, .expired)])
        #expect(try await screen.makoctl(["list"]).contains("Three coffees"))
    }

    @Test func `a server that ends takes its alerts along, and the next server gets new ones`() async throws {
        let (screen, mako, session, presenter) = try await desktop()
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        try await mako.killNow()
        try await session.run(until: "the alert is lost") { session.lost == [1] && !presenter.isAvailable }
        try await screen.startMako()
        try await session.run(until: "the next is there") { presenter.isAvailable }
        #expect(try await session.present(order, with: presenter) == .shown(playsSound: false))
        #expect(try await screen.makoctl(["list"]).contains("New order"))
    }
}
