// SPDX-License-Identifier: Apache-2.0

@testable import LinuxDesktop
import PushDBus
import TestSupport
import Testing

/// Checks that the agent reads the desktop's own switch for event sounds.
struct EventSoundsTests {
    private let files: TemporaryDirectory

    init() throws { files = try TemporaryDirectory() }

    /// Returns the environment of a desktop session whose settings are below the test's own directory.
    private func environment(_ desktop: String) throws -> [String: String] {
        [
            "XDG_CURRENT_DESKTOP": desktop, "PATH": "/usr/bin:/bin", "HOME": files.path,
            "XDG_CONFIG_HOME": try files.makeDirectory("config"), "XDG_RUNTIME_DIR": try files.makeDirectory("run"),
        ]
    }

    @Test(arguments: [
        ("KDE", "kdeglobals", "[General]\nEnable=true\n[Sounds]\nTheme=ocean\nEnable=false\n", true),
        ("KDE", "kdeglobals", "[Sounds]\nEnable=true\n", false),
        ("KDE", "kdeglobals", "[Other]\nEnable=false\n", false),
        ("KDE", "gtk-3.0/settings.ini", "[Settings]\ngtk-enable-event-sounds=0\n", false),
        ("sway", "gtk-3.0/settings.ini", "[Settings]\ngtk-enable-event-sounds=0\n", true),
        ("", "gtk-4.0/settings.ini", "[Settings]\ngtk-enable-event-sounds = False\n", true),
        ("sway", "gtk-3.0/settings.ini", "[Settings]\ngtk-enable-event-sounds=1\n", false),
        ("sway", "gtk-3.0/settings.ini", "no settings", false),
        ("XFCE", "kdeglobals", "[Sounds]\nEnable=false\n", false),
    ])
    func `settings files are used on the desktop that they belong to`(
        desktop: String, name: String, text: String, areOff: Bool
    ) async throws {
        let session = try BusSession(await DesktopBus())
        let environment = try environment(desktop)
        let sounds = try EventSounds(
            connection: session.connection, loop: session.loop, environment: environment, log: testLog)
        #expect(!sounds.areOff)
        for folder in ["gtk-3.0", "gtk-4.0"] { try files.makeDirectory("config/\(folder)") }
        try files.write(text, to: "config/\(name)")
        #expect(sounds.areOff == areOff)
    }

    @Test func `GTK 4 settings override GTK 3 settings`() async throws {
        let session = try BusSession(await DesktopBus())
        let sounds = try EventSounds(
            connection: session.connection, loop: session.loop, environment: try environment("sway"), log: testLog)
        for (folder, value) in [("gtk-3.0", "0"), ("gtk-4.0", "1")] {
            try files.makeDirectory("config/\(folder)")
            try files.write("[Settings]\ngtk-enable-event-sounds=\(value)\n", to: "config/\(folder)/settings.ini")
        }
        #expect(!sounds.areOff)
    }

    @Test(.tags(.slow), arguments: ["GNOME", "ubuntu:GNOME", "Budgie:GNOME"])
    func `a real GSettings value is read at the start and followed`(desktop: String) async throws {
        var environment = try environment(desktop)
        let bus = try await DesktopBus(environment: environment)
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        try await bus.addService("ca.desrt.dconf", command: "/usr/libexec/dconf-service")
        func set(_ words: String...) async throws {
            try await RunningProcess.run(
                "/usr/bin/gsettings", [words[0], "org.gnome.desktop.sound"] + words.dropFirst(),
                environment: environment
            ).succeeded()
        }
        try await set("set", "event-sounds", "false")
        let session = try BusSession(bus)
        let sounds = try EventSounds(
            connection: session.connection, loop: session.loop, environment: environment, log: testLog)
        try await session.run(until: "they are off") { sounds.areOff }
        try await set("set", "event-sounds", "true")
        try await session.run(until: "they are on") { !sounds.areOff }
        try await set("set", "event-sounds", "false")
        try await session.run(until: "they are off again") { sounds.areOff }
        try await set("reset", "event-sounds")
        try await session.run(until: "they are as GNOME has them") { !sounds.areOff }
    }

    @Test func `event sounds are on when the program that reads the settings is missing`() async throws {
        let session = try BusSession(await DesktopBus())
        var environment = try environment("GNOME")
        environment["PATH"] = files.path
        let sounds = try EventSounds(
            connection: session.connection, loop: session.loop, environment: environment, log: testLog)
        #expect(!sounds.areOff)
    }

    @Test(.tags(.slow)) func `Xfce's notification daemon is muted by a property`() async throws {
        let screen = try await DesktopScreen()
        func mute(_ isMuted: Bool) async throws {
            try await screen.bus.busctl(
                "call", "org.xfce.Xfconf", "/org/xfce/Xfconf", "org.xfce.Xfconf", "SetProperty", "ssv",
                "xfce4-notifyd", "/mute-sounds", "b", "\(isMuted)"
            ).succeeded()
        }
        try await mute(true)
        let session = try BusSession(screen.bus)
        let watch = SessionMonitor()
        try watch.watch(DesktopStateSource.silence, on: session.connection)
        #expect(watch.isSilent && !watch.isQuiet && !watch.isLocked)
        try await mute(false)
        try await session.run(until: "it is not silent") { !watch.isSilent }
    }
}
