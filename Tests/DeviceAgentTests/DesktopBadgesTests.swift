// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
@testable import LinuxDesktop
@testable import PushDBus
import PushCore
import PushNet
import TestSupport
import Testing

struct DesktopBadgesTests {
    /// Behaves as docks do: listens to all senders, and stores updates by their sender.
    final class Dock {
        let connection: BusConnection
        let driver: BusDriver
        private(set) var updates: [IncomingSignal] = []

        init(_ session: DesktopSession) throws {
            connection = try BusConnection(.address(session.bus.address))
            driver = try BusDriver(loop: session.loop, connection: connection)
            try connection.subscribe(
                sender: nil, path: nil, interface: "com.canonical.Unity.LauncherEntry", member: "Update"
            ) { [weak self] in self?.updates.append($0) }
        }

        /// The app, number and visibility of each update, in order.
        var badges: [String] {
            updates.map { update in
                let count = update.arguments.last?[key: "count"]
                let isVisible = update.arguments.last?[key: "count-visible"]?.boolValue
                let isInt64 = count?.signature == "x"
                return "\(update.arguments.first?.stringValue ?? "") \(isInt64 ? count?.integerValue ?? -1 : -1) "
                    + "\(isVisible == true)"
            }
        }
    }

    private func desktop() async throws -> (DesktopSession, Dock, LauncherBadges) {
        let session = try DesktopSession(await DesktopBus())
        return (session, try Dock(session), try badges(session))
    }

    private func badges(_ session: DesktopSession) throws -> LauncherBadges {
        try LauncherBadges(
            bus: .address(session.bus.address), loop: session.loop, watcher: session.connection,
            log: EventLog(threshold: .error, isJournal: false))
    }

    @Test func `a badge is the number, and 0 removes it`() async throws {
        let (session, dock, badges) = try await desktop()
        badges.setBadge(0, appID: "org.posthorn.Never")
        badges.setBadge(3, appID: "org.posthorn.A")
        badges.setBadge(UInt32.max, appID: "org.posthorn.A")
        badges.setBadge(0, appID: "org.posthorn.A")
        try await session.run(until: "the dock heard all") { dock.updates.count == 3 }
        let app = "application://org.posthorn.A.desktop"
        #expect(dock.badges == ["\(app) 3 true", "\(app) 4294967295 true", "\(app) 0 false"])
    }

    @Test(arguments: ["", "../a", "a b", "a\0"] as [AppID])
    func `an invalid app ID gets no badge`(appID: AppID) async throws {
        let (session, dock, badges) = try await desktop()
        badges.setBadge(1, appID: appID)
        badges.setBadge(1, appID: "z")
        try await session.run(until: "the dock heard something") { !dock.updates.isEmpty }
        #expect(dock.badges == ["application://z.desktop 1 true"])
    }

    @Test func `each app has its own permanent sender`() async throws {
        let (session, dock, badges) = try await desktop()
        for count in 1...2 as ClosedRange<UInt32> {
            for app in ["a", "b", "c"] as [AppID] { badges.setBadge(count, appID: app) }
        }
        try await session.run(until: "the dock heard all") { dock.updates.count == 6 }
        #expect(Set(dock.updates.map(\.sender)).count == 3)
        // The bus keeps the order of each sender, not the order between senders.
        for app in ["a", "b", "c"] as [AppID] {
            let updates = dock.updates.filter { $0.arguments.first == .string("application://\(app).desktop") }
            #expect(updates.count == 2)
            #expect(Set(updates.map(\.sender)).count == 1 && Set(updates.map(\.path)).count == 1)
        }
        #expect(dock.updates[0].path.hasPrefix("/com/canonical/unity/launcherentry/"))
    }

    @Test func `a dock that starts later receives the current badges`() async throws {
        let (session, dock, badges) = try await desktop()
        badges.setBadge(1, appID: "a")
        badges.setBadge(2, appID: "b")
        badges.setBadge(0, appID: "a")
        try await session.run(until: "the first dock heard all") { dock.updates.count == 3 }
        let later = try Dock(session)
        #expect(try later.connection.requestName("com.canonical.Unity"))
        try await session.run(until: "the later dock heard something") { !later.updates.isEmpty }
        #expect(later.badges == ["application://b.desktop 2 true"])
    }

    @Test func `the senders leave with the badges, so that docks forget them`() async throws {
        let session = try DesktopSession(await DesktopBus())
        let dock = try Dock(session)
        var badges: LauncherBadges? = try badges(session)
        badges?.setBadge(1, appID: "a")
        try await session.run(until: "the dock heard it") { dock.updates.count == 1 }
        let sender = dock.updates[0].sender
        #expect(try dock.connection.owner(of: sender) == sender)
        badges = nil
        #expect(badges == nil)
        try await session.run(until: "the sender left") { try dock.connection.owner(of: sender) == nil }
    }

    @Test func `a dock that keeps one app per sender, as Plasma does, has no badge after the agent ends`()
        async throws
    {
        let session = try DesktopSession(await DesktopBus())
        let dock = try Dock(session)
        var badges: LauncherBadges? = try badges(session)
        for app in ["a", "b", "c"] as [AppID] { badges?.setBadge(1, appID: app) }
        try await session.run(until: "the dock heard all") { dock.updates.count == 3 }
        badges = nil
        #expect(badges == nil)
        var appOfSender: [String: String] = [:]
        for update in dock.updates { appOfSender[update.sender] = update.arguments.first?.stringValue }
        for sender in appOfSender.keys {
            try await session.run(until: "\(sender) left") { try dock.connection.owner(of: sender) == nil }
        }
        #expect(appOfSender.values.sorted() == ["a", "b", "c"].map { "application://\($0).desktop" })
    }

    @Test func `over the limit an app replaces one without a badge, or shows no badge`() async throws {
        let (session, dock, badges) = try await desktop()
        for number in 1...64 { badges.setBadge(1, appID: AppID("app-\(number)")) }
        badges.setBadge(1, appID: "late")
        badges.setBadge(0, appID: "app-7")
        badges.setBadge(2, appID: "late")
        badges.setBadge(2, appID: "app-8")
        try await session.run(until: "the dock heard all") { dock.updates.count == 67 }
        let late = dock.badges.filter { $0.contains("late") }
        #expect(late == ["application://late.desktop 2 true"])
        #expect(dock.badges.contains("application://app-7.desktop 0 false"))
        #expect(dock.badges.contains("application://app-8.desktop 2 true"))
        #expect(Set(dock.updates.map(\.sender)).count == 65)
    }
}
