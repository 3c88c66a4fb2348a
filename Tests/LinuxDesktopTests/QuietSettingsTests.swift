// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import TestSupport
import Testing

/// Checks that the agent reads the do-not-disturb switch that desktops keep in GSettings.
@Suite(.tags(.slow)) struct QuietSettingsTests {
    /// A desktop with its switch.
    struct Place: Sendable {
        var server, vendor, schema, key, path: String
        var quietValue: Bool

        /// The schema as the desktop declares it, for distributions without that desktop.
        var schemaText: String {
            """
            <schemalist><schema id="\(schema)" path="\(path)">
            <key name="\(key)" type="b"><default>\(!quietValue)</default></key>
            </schema></schemalist>
            """
        }

        static let gnome = Place(
            server: "gnome-shell", vendor: "GNOME", schema: "org.gnome.desktop.notifications", key: "show-banners",
            path: "/org/gnome/desktop/notifications/", quietValue: false)
        static let cinnamon = Place(
            server: "cinnamon", vendor: "GNOME", schema: "org.cinnamon.desktop.notifications",
            key: "display-notifications", path: "/org/cinnamon/desktop/notifications/", quietValue: false)
        static let mate = Place(
            server: "Notification Daemon", vendor: "MATE", schema: "org.mate.NotificationDaemon",
            key: "do-not-disturb", path: "/org/mate/notification-daemon/", quietValue: true)
    }

    private let files: TemporaryDirectory
    private let bus: DesktopBus
    private let environment: [String: String]

    init() async throws {
        files = try TemporaryDirectory()
        var environment = [
            "PATH": "/usr/bin:/bin", "HOME": files.path, "XDG_CONFIG_HOME": try files.makeDirectory("config"),
            "XDG_RUNTIME_DIR": try files.makeDirectory("run"),
            "GSETTINGS_SCHEMA_DIR": try files.makeDirectory("schemas"),
        ]
        bus = try await DesktopBus(environment: environment)
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        self.environment = environment
        try await bus.addService("ca.desrt.dconf", command: "/usr/libexec/dconf-service")
    }

    /// Declares the switches that the distribution does not have.
    private func declare(_ places: Place...) async throws {
        for place in places { try files.write(place.schemaText, to: "schemas/\(place.schema).gschema.xml") }
        try await RunningProcess.run("/usr/bin/glib-compile-schemas", [files.path(of: "schemas")]).succeeded()
    }

    private func set(_ place: Place, isQuiet: Bool) async throws {
        try await RunningProcess.run(
            "/usr/bin/gsettings", ["set", place.schema, place.key, "\(isQuiet == place.quietValue)"],
            environment: environment
        ).succeeded()
    }

    private func quiet(_ session: BusSession) throws -> QuietSettings {
        try QuietSettings(connection: session.connection, loop: session.loop, environment: environment, log: testLog)
    }

    @Test(arguments: [Place.gnome, .cinnamon, .mate])
    func `the switch is read at the start and followed`(place: Place) async throws {
        try await declare(.cinnamon, .mate)
        try await set(place, isQuiet: true)
        let session = try BusSession(bus)
        let server = try NamedNotificationServer(session, name: place.server, vendor: place.vendor)
        let quiet = try quiet(session)
        try await session.run(until: "it is quiet") { quiet.isQuiet }
        try await set(place, isQuiet: false)
        try await session.run(until: "it is not") { !quiet.isQuiet }
        try await set(place, isQuiet: true)
        try await session.run(until: "it is quiet again") { quiet.isQuiet }
        withExtendedLifetime(server) {}
    }

    @Test func `a switch applies while its own desktop's server runs, which may start later`() async throws {
        try await declare(.mate)
        for place in [Place.gnome, .mate] { try await set(place, isQuiet: true) }
        let session = try BusSession(bus)
        let quiet = try quiet(session)
        var server: NamedNotificationServer?
        server = try NamedNotificationServer(session, name: "Notification Daemon", vendor: "GNOME")
        try await session.run(until: "it was asked") { server?.informationCallCount ?? 0 > 0 }
        #expect(!quiet.isQuiet)
        server = nil
        server = try NamedNotificationServer(session, name: "gnome-shell")
        try await session.run(until: "GNOME is here") { quiet.isQuiet }
        server = nil
        try await session.run(until: "and gone") { !quiet.isQuiet }
    }

    @Test func `do-not-disturb is off when the switch is not installed`() async throws {
        let session = try BusSession(bus)
        let server: NamedNotificationServer? = try NamedNotificationServer(session, name: "cinnamon")
        let quiet = try quiet(session)
        try await session.run(until: "it was asked") { server?.informationCallCount ?? 0 > 0 }
        #expect(!quiet.isQuiet)
    }
}
