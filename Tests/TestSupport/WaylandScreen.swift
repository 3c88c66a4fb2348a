// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// A private Wayland desktop of a test: headless sway with mako, on a message bus.
///
/// sway refuses to run as root. If the tests run as root, sway and mako run as `nobody`.
package final class WaylandScreen: Sendable {
    package let bus: DesktopBus
    private let files: TemporaryDirectory
    private let environment: [String: String]
    private let compositor: RunningProcess
    private let companions = Companions()

    /// Starts the bus and the compositor, and waits until they are ready.
    ///
    /// - Throws: `DeadlinePassed`, `MissingProgram`.
    package init() async throws {
        bus = try await DesktopBus(isOpen: true)
        files = try TemporaryDirectory(isOpen: true)
        let home = try files.makeDirectory("home")
        if Self.isRoot { try Self.give(home) }
        environment = [
            "HOME": home, "XDG_RUNTIME_DIR": home, "XDG_CONFIG_HOME": home, "DBUS_SESSION_BUS_ADDRESS": bus.address,
            "WAYLAND_DISPLAY": "wayland-1",
        ]
        let configuration = try files.write(
            "output * resolution 800x600 bg #5a7299 solid_color\nxwayland disable\n", to: "sway.conf",
            permissions: 0o644)
        let compositing = [
            "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1", "WAYLAND_DISPLAY": "",
        ]
        compositor = try Self.start("sway", ["--config", configuration], environment.merging(compositing) { $1 })
        let (socket, compositor) = ("\(home)/wayland-1", compositor)
        try await eventually("sway listens", evidence: { compositor.transcript }) {
            FileManager.default.fileExists(atPath: socket)
        }
        try await eventually("the background is there", evidence: { compositor.transcript }) {
            try await picture().suffix(3) == Data([0x5a, 0x72, 0x99])
        }
    }

    /// Starts mako and waits until it owns its bus name.
    ///
    /// It runs as long as the desktop, or until it is killed.
    ///
    /// - Parameter configuration: The content of its configuration file.
    /// - Returns: The process.
    /// - Throws: `DeadlinePassed`, `MissingProgram`.
    @discardableResult
    package func startMako(_ configuration: String = "") async throws -> RunningProcess {
        let file = try files.write(configuration, to: "mako.conf", permissions: 0o644)
        let process = try Self.start("mako", ["--config", file], environment)
        await companions.add(process)
        try await bus.waitForOwner(of: "org.freedesktop.Notifications", evidence: { process.transcript })
        return process
    }

    /// Runs `makoctl`, with which mako acts as on a click; returns the output.
    @discardableResult
    package func makoctl(_ arguments: [String]) async throws -> String {
        let (program, words) = try Self.asPerson("makoctl", arguments)
        return try await RunningProcess.run(program, words, environment: environment).succeeded().output
    }

    /// Returns the picture on the screen, taken with `grim`.
    package func picture() async throws -> Data {
        let path = files.path(of: "home/screen.ppm")
        let (program, words) = try Self.asPerson("grim", ["-t", "ppm", path])
        try await RunningProcess.run(program, words, environment: environment).succeeded()
        return try Data(contentsOf: URL(fileURLWithPath: path))
    }

    private static var isRoot: Bool { getuid() == 0 }

    private static func give(_ path: String) throws {
        guard let nobody = unsafe getpwnam("nobody") else { throw SystemFailure(call: "getpwnam", code: errno) }
        guard unsafe chown(path, nobody.pointee.pw_uid, nobody.pointee.pw_gid) == 0 else {
            throw SystemFailure(call: "chown", code: errno)
        }
    }

    private static func start(
        _ program: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> RunningProcess {
        let (program, words) = try asPerson(program, arguments)
        return try RunningProcess(program, words, environment: environment)
    }

    /// Returns a program and its arguments, changed to run as `nobody` if the tests run as root.
    private static func asPerson(_ program: String, _ arguments: [String]) throws -> (String, [String]) {
        let path = try RepositoryPaths.tool(program)
        guard isRoot else { return (path, arguments) }
        let user = ["--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]
        return (try RepositoryPaths.tool("setpriv"), user + [path] + arguments)
    }
}
