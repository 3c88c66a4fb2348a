// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A desktop of a test's own: a virtual screen, a message bus, and a real notification server on both.
package final class DesktopScreen: Sendable {
    /// The notification servers that the tests start.
    package enum Server: String, CaseIterable, Sendable {
        case notificationDaemon = "notification-daemon"
        case dunst = "dunst"
        case xfce = "xfce4-notifyd"

        /// Where Debian puts it.
        var path: String {
            switch self {
            case .notificationDaemon: "/usr/lib/notification-daemon/notification-daemon"
            case .dunst: "/usr/bin/dunst"
            case .xfce: "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd"
            }
        }
    }

    /// The bus of the desktop.
    package let bus: DesktopBus
    /// What programs need to be on this desktop.
    package let environment: [String: String]
    private let display: RunningProcess

    /// Starts screen and bus, and waits until they are there.
    package init() async throws {
        let display = try RunningProcess(
            RepositoryPaths.tool("Xvfb"), ["-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"])
        self.display = display
        let number = try await display.outputLine()
        let home = try TemporaryDirectory()
        var environment = [
            "DISPLAY": ":\(number)", "HOME": home.path, "XDG_CONFIG_HOME": home.path(of: "config"),
            "XDG_DATA_HOME": home.path(of: "data"), "XDG_CACHE_HOME": home.path(of: "cache"), "NO_AT_BRIDGE": "1",
            "GSETTINGS_BACKEND": "memory", "XDG_RUNTIME_DIR": home.path,
        ]
        bus = try await DesktopBus(environment: environment, keeping: home)
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        self.environment = environment
        try await bus.addService("org.xfce.Xfconf", command: "/usr/lib/x86_64-linux-gnu/xfce4/xfconf/xfconfd")
    }

    /// Starts a notification server and waits until it has its name.
    package func start(_ server: Server) async throws -> RunningProcess {
        let process = try RunningProcess(server.path, environment: environment)
        try await bus.waitForOwner(of: "org.freedesktop.Notifications", evidence: { process.transcript })
        return process
    }

    /// Runs `xdotool` on the screen.
    @discardableResult
    package func xdotool(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(RepositoryPaths.tool("xdotool"), arguments, environment: environment)
    }

    /// Moves the pointer to a place on the screen and clicks.
    package func click(x: Int, y: Int) async throws {
        try await xdotool("mousemove", "\(x)", "\(y)", "click", "1").succeeded()
    }

    /// Saves what the screen shows as an image.
    package func screenshot(to path: String) async throws {
        try await RunningProcess.run(
            RepositoryPaths.tool("import"), ["-window", "root", path], environment: environment
        ).succeeded()
    }
}
