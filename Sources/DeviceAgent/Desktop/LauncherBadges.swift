// SPDX-License-Identifier: Apache-2.0

internal import LinuxDesktop
internal import PushCore
internal import PushDBus
internal import PushNet

/// Shows numbers on app icons with the signal `com.canonical.Unity.LauncherEntry.Update`, which docks subscribe to.
///
/// A dock keeps one app per sender and forgets it when the sender leaves the bus. Therefore each app has a connection
/// of its own, which stays open until the agent ends. A dock cannot query badges: they are sent again when a dock
/// acquires the name `com.canonical.Unity`.
final class LauncherBadges: BadgePresenter {
    /// The maximum number of connections to the bus.
    ///
    /// At the limit, an app without a badge loses its connection to the next app. If all have badges, the next app gets
    /// none.
    static let connectionCountMax = 64
    static let interface = "com.canonical.Unity.LauncherEntry"

    /// An app that has, or had, a badge.
    private struct Badged {
        let driver: BusDriver
        let path: String
        var count: UInt32
    }

    private let bus: BusConnection.Bus
    private let loop: EventLoop
    private let log: EventLog
    private var apps: [AppID: Badged] = [:]
    private var pathCount = 0

    /// Watches for docks.
    ///
    /// An app's connection is opened with its first badge.
    ///
    /// - Parameters:
    ///   - bus: The session bus.
    ///   - loop: The loop on whose thread this runs.
    ///   - watcher: A connection to the same bus that the caller drives; it is only used to watch for docks.
    ///   - log: Receives the badges that cannot be shown.
    /// - Throws: `BusError` when the bus refuses the subscription.
    init(
        bus: BusConnection.Bus, loop: EventLoop, watcher: BusConnection, log: EventLog
    ) throws(BusError) {
        self.bus = bus
        self.loop = loop
        self.log = log
        try watcher.watchOwner(of: "com.canonical.Unity") { [weak self] owner in
            if owner != nil { self?.showAll() }
        }
    }

    func setBadge(_ count: UInt32, appID: AppID) {
        guard DesktopEntry.isValidID(appID.text) else { return }
        if apps[appID] == nil {
            // A badge that was never shown need not be removed.
            guard count > 0, let badged = connect(appID) else { return }
            apps[appID] = badged
        }
        apps[appID]?.count = count
        show(appID)
    }

    private func connect(_ appID: AppID) -> Badged? {
        if apps.count >= LauncherBadges.connectionCountMax {
            guard let unused = apps.first(where: { $0.value.count == 0 })?.key else {
                log.warning("badge_not_shown", ["app": appID.text, "reason": "\(apps.count) apps have a badge"])
                return nil
            }
            apps[unused] = nil
        }
        do {
            let driver = try BusDriver(loop: loop, connection: BusConnection(bus))
            driver.connectionLost = { [weak self] _ in self?.apps[appID] = nil }
            pathCount += 1
            return Badged(driver: driver, path: "/com/canonical/unity/launcherentry/\(pathCount)", count: 0)
        } catch {
            log.warning("badge_not_shown", ["app": appID.text, "reason": "\(error)"])
            return nil
        }
    }

    private func showAll() {
        for (appID, app) in apps where app.count > 0 { show(appID) }
    }

    private func show(_ appID: AppID) {
        guard let app = apps[appID] else { return }
        let properties = BusValue.dictionary([
            ("count", .int64(Int64(app.count))), ("count-visible", .bool(app.count > 0)),
        ])
        do {
            try app.driver.connection.emit(
                app.path, LauncherBadges.interface, "Update",
                [.string("application://\(appID).desktop"), properties])
        } catch {
            // The app's next badge opens a new connection.
            apps[appID] = nil
            log.warning("badge_not_shown", ["app": appID.text, "reason": error.message])
        }
    }
}
