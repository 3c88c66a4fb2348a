// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// The do-not-disturb setting of desktops that store it in GSettings and do not report it over D-Bus.
///
/// | Notification server | Setting |
/// |---|---|
/// | GNOME Shell | `show-banners` of `org.gnome.desktop.notifications`, false while it is on |
/// | Cinnamon | `display-notifications` of `org.cinnamon.desktop.notifications`, the same |
/// | MATE's | `do-not-disturb` of `org.mate.NotificationDaemon`, true while it is on |
///
/// The notification server on the bus decides which key counts: many machines without GNOME have GNOME's key, and the
/// agent may start before the desktop. It runs on the loop's thread.
package final class QuietSettings {
    /// A key, and its value while do-not-disturb is on.
    private typealias Source = (key: GSettingsSwitch.Key, quietValue: Bool)

    private static let gnome: Source = (
        GSettingsSwitch.Key(
            schema: "org.gnome.desktop.notifications", name: "show-banners",
            path: "/org/gnome/desktop/notifications/show-banners"), false
    )
    private static let cinnamon: Source = (
        GSettingsSwitch.Key(
            schema: "org.cinnamon.desktop.notifications", name: "display-notifications",
            path: "/org/cinnamon/desktop/notifications/display-notifications"), false
    )
    private static let mate: Source = (
        GSettingsSwitch.Key(
            schema: "org.mate.NotificationDaemon", name: "do-not-disturb",
            path: "/org/mate/notification-daemon/do-not-disturb"), true
    )

    private let connection: BusConnection
    private let loop: EventLoop
    private let environment: [String: String]
    private let log: EventLog
    private let program: String?
    private var owner: String?
    /// The keys by schema; a key that was read once is followed for good, because its server may come back.
    private var settings: [String: GSettingsSwitch] = [:]
    private var source: Source?

    /// Watches which notification server is on the bus.
    ///
    /// - Parameters:
    ///   - connection: The session bus, driven by the caller.
    ///   - loop: The loop that drives it.
    ///   - environment: The environment, which names the folder of the user's settings.
    ///   - log: Receives an event when a setting cannot be watched.
    /// - Throws: `BusError` when the bus refuses a subscription.
    package init(connection: BusConnection, loop: EventLoop, environment: [String: String], log: EventLog)
        throws(BusError)
    {
        self.connection = connection
        self.loop = loop
        self.environment = environment
        self.log = log
        program = DesktopEntries(environment: environment).program("gsettings")
        guard program != nil else { return }
        try connection.watchOwner(of: NotificationServer.busName) { [weak self] owner in self?.serverChanged(to: owner)
        }
        serverChanged(to: try connection.owner(of: NotificationServer.busName))
    }

    /// Whether the desktop's own do-not-disturb is on.
    package var isQuiet: Bool {
        guard let source else { return false }
        return settings[source.key.schema]?.isOn == source.quietValue
    }

    private func serverChanged(to owner: String?) {
        self.owner = owner
        source = nil
        if let owner { ask(owner) }
    }

    private func ask(_ asked: String) {
        let start = ContinuousClock.now
        connection.send(
            asked, NotificationServer.path, NotificationServer.busName, "GetServerInformation", [],
            timeout: SessionMonitor.answerTimeout
        ) { [weak self] answer in
            // Another server has replaced this one meanwhile.
            guard let self, owner == asked else { return }
            switch answer {
            case .success(let values): follow(values.compactMap(\.stringValue))
            case .failure(let error):
                if error.isOfBusyProgram, ContinuousClock.now - start >= SessionMonitor.dropTimeMin { ask(asked) }
            }
        }
    }

    /// Selects and reads the key of the server with this answer of `GetServerInformation`.
    private func follow(_ information: [String]) {
        guard let program, let source = Self.source(information.map { $0.lowercased() }) else { return }
        do {
            if settings[source.key.schema] == nil {
                settings[source.key.schema] = try GSettingsSwitch(
                    source.key, program: program, connection: connection, loop: loop, environment: environment, log: log
                )
            }
            self.source = source
        } catch {
            log.info("quiet_not_watched", ["error": error.message])
        }
    }

    private static func source(_ information: [String]) -> Source? {
        switch (information.first, information.dropFirst().first) {
        case ("gnome-shell", _): gnome
        case ("cinnamon", _): cinnamon
        // Another server has the same name, so the vendor is compared, too.
        case ("notification daemon", "mate"): mate
        default: nil
        }
    }
}
