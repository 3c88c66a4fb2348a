// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushDBus
import PushNet
import TestSupport
import Testing

/// Checks real desktop programs that deviate from the specification.
@Suite(.tags(.slow))
struct DesktopQuirkTests {
    private let order = Alert(entry: 1, appID: "org.posthorn.Test", appName: "Orders", title: "New order")

    @Test(arguments: [(UInt8(0), "is low"), (1, "is normal"), (2, "is critical")])
    func `dunst, which reads only a byte, gets the urgency of an alert`(urgency: UInt8, word: String) async throws {
        let screen = try await DesktopScreen()
        try screen.files.makeDirectory("config/dunst")
        let words = ["low", "normal", "critical"].map { "[urgency_\($0)]\nformat = \"is \($0)\"\n" }
        try screen.files.write(words.joined(), to: "config/dunst/dunstrc")
        try await screen.keepRunning(.dunst)
        let session = try DesktopSession(screen.bus)
        let presenter = try session.presenter()
        var alert = order
        alert.urgency = urgency
        #expect(try await session.present(alert, with: presenter) == .shown(playsSound: false))
        presenter.withdraw(entries: [1])
        var history = ""
        try await session.run(until: "it is history", evidence: { history }) {
            history = try await screen.bus.busctl(
                "call", "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.dunstproject.cmd0",
                "NotificationListHistory"
            ).output
            return history.contains("\"Orders\"")
        }
        #expect(history.contains("\"\(word)\""), "\(history)")
    }

    @Test func `a restarted plank shows the current badges`() async throws {
        let screen = try await DesktopScreen()
        let item = try install("org.posthorn.Test", on: screen)
        try await screen.bus.addService("org.ayatana.bamf", command: "/usr/libexec/bamf/bamfdaemon")
        let session = try DesktopSession(screen.bus)
        let badges = try LauncherBadges(
            bus: .address(screen.bus.address), loop: session.loop, watcher: session.connection,
            log: EventLog(threshold: .error, isJournal: false))
        let empty = try await screen.picture()

        let first = try await plank(screen)
        let bare = try await settled(screen, session, not: [empty])
        badges.setBadge(7, appID: item)
        let badged = try await settled(screen, session, not: [empty, bare])
        try await first.killNow()
        try await session.run(until: "the dock is gone") { try await screen.picture() == empty }

        let second = try await plank(screen)
        try await session.run(until: "the badge is there", evidence: { second.transcript }) {
            try await screen.picture() == badged
        }
        badges.setBadge(0, appID: item)
        try await session.run(until: "the badge is gone") { try await screen.picture() == bare }
    }

    // MARK: Helpers

    /// Installs an app that the dock shows whether it runs or not.
    private func install(_ appID: AppID, on screen: DesktopScreen) throws -> AppID {
        let files = screen.files
        try files.makeDirectory("data/applications")
        let entry = try files.write(
            "[Desktop Entry]\nType=Application\nName=Orders\nExec=true\nIcon=mail-unread\n",
            to: "data/applications/\(appID).desktop")
        try files.makeDirectory("config/plank/dock1/launchers")
        try files.write(
            "[PlankDockItemPreferences]\nLauncher=file://\(entry)\n", to: "config/plank/dock1/launchers/item.dockitem")
        return appID
    }

    private func plank(_ screen: DesktopScreen) async throws -> RunningProcess {
        let dock = try RunningProcess(RepositoryPaths.tool("plank"), environment: screen.environment)
        try await screen.bus.waitForOwner(of: "com.canonical.Unity", evidence: { dock.transcript })
        return dock
    }

    /// Waits for a stable picture that differs from the others.
    private func settled(
        _ screen: DesktopScreen, _ session: DesktopSession, not others: [String]
    ) async throws -> String {
        var last = ("", 0)
        try await session.run(until: "the picture settles") {
            let picture = try await screen.picture()
            last = picture == last.0 ? (picture, last.1 + 1) : (picture, 0)
            return last.1 >= 5 && !others.contains(picture)
        }
        return last.0
    }
}
