// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A private desktop of a test: a virtual screen, a message bus, and a real notification server on both.
package final class DesktopScreen: Sendable {
    /// The notification servers that tests can start.
    package enum Server: String, CaseIterable, Sendable {
        case notificationDaemon = "notification-daemon"
        case dunst = "dunst"
        case xfce = "xfce4-notifyd"

        /// The path of the program in Debian.
        var path: String {
            switch self {
            case .notificationDaemon: "/usr/lib/notification-daemon/notification-daemon"
            case .dunst: "/usr/bin/dunst"
            case .xfce: "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd"
            }
        }
    }

    /// The size of the screen.
    package let size: Size
    package let bus: DesktopBus
    /// The environment for programs on this desktop.
    package let environment: [String: String]
    /// The home directory of all programs on the desktop, with `config` and `data`.
    package let files: TemporaryDirectory
    private let display: RunningProcess
    private let companions = Companions()

    /// Starts the screen and the bus, and waits until they are ready.
    ///
    /// - Parameters:
    ///   - size: The size of the screen in pixels.
    ///   - isWorkplace: Whether to start a window manager and the accessibility bus, which tests read: see
    ///     `Tests/EndToEndTests/Panel/atspi.py`.
    /// - Throws: `DeadlinePassed`, `MissingProgram`.
    package init(size: Size = Size(width: 800, height: 600), isWorkplace: Bool = false) async throws {
        self.size = size
        let display = try RunningProcess(
            RepositoryPaths.tool("Xvfb"),
            // Without -noreset, Xvfb resets when its last client disconnects, and refuses a client that connects during
            // the reset.
            ["-displayfd", "1", "-screen", "0", "\(size.width)x\(size.height)x24", "-nolisten", "tcp", "-noreset"])
        self.display = display
        let number = try await display.outputLine()
        let home = try TemporaryDirectory()
        files = home
        var environment = [
            "DISPLAY": ":\(number)", "HOME": home.path, "XDG_CONFIG_HOME": home.path(of: "config"),
            "XDG_DATA_HOME": home.path(of: "data"), "XDG_CACHE_HOME": home.path(of: "cache"), "NO_AT_BRIDGE": "1",
            "GSETTINGS_BACKEND": "memory", "XDG_RUNTIME_DIR": home.path,
        ]
        if isWorkplace { environment["GTK_A11Y"] = "atspi" }
        bus = try await DesktopBus(environment: environment, keeping: home)
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        self.environment = environment
        try await bus.addService("org.xfce.Xfconf", command: "/usr/lib/x86_64-linux-gnu/xfce4/xfconf/xfconfd")
        guard isWorkplace else { return }
        try await bus.addService("org.a11y.Bus", command: "/usr/libexec/at-spi-bus-launcher")
        await companions.add(try RunningProcess(RepositoryPaths.tool("openbox"), environment: environment))
    }

    /// A width and a height in pixels.
    package struct Size: Equatable, Sendable {
        package let width, height: Int

        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// Kills the X server, as in a crash.
    package func endDisplay() async throws { try await display.killNow() }

    /// Starts a notification server and waits until it owns its bus name.
    package func start(_ server: Server) async throws -> RunningProcess {
        let process = try RunningProcess(server.path, environment: environment)
        try await bus.waitForOwner(of: "org.freedesktop.Notifications", evidence: { process.transcript })
        return process
    }

    /// Starts a notification server that runs as long as the desktop.
    package func keepRunning(_ server: Server) async throws { await companions.add(try start(server)) }

    /// Runs `xdotool` on the screen.
    @discardableResult
    package func xdotool(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(RepositoryPaths.tool("xdotool"), arguments, environment: environment)
    }

    /// Returns a checksum of the screen's picture: equal pictures have equal checksums.
    package func picture() async throws -> String {
        let script = "\(try RepositoryPaths.tool("convert")) x:root -depth 8 rgb:- | cksum"
        return try await RunningProcess.run("/bin/sh", ["-c", script], environment: environment).output
    }

    /// Returns the number of pixels on the screen that have exactly this color, given as `#rrggbb`.
    package func pointCount(ofColour colour: String) async throws -> Int {
        let convert = try RepositoryPaths.tool("convert")
        let counting = [
            "x:root", "-depth", "8", "-fill", "black", "+opaque", colour, "-fill", "white", "-opaque", colour,
            "-format", "%[fx:round(w*h*mean)]", "info:",
        ]
        let counted = try await RunningProcess.run(convert, counting, environment: environment)
            .output
        return Int(counted.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
    }

    /// Moves the pointer to a place on the screen and clicks.
    package func click(_ place: Place, button: Int = 1) async throws {
        try await xdotool("mousemove", "\(place.x)", "\(place.y)", "click", "\(button)").succeeded()
    }

    /// A place on the screen, in pixels from the upper left corner.
    package struct Place: Equatable, Sendable {
        package var x: Int
        package var y: Int

        package init(x: Int, y: Int) {
            self.x = x
            self.y = y
        }
    }

    /// The position and size of a window in pixels.
    package struct Frame: Equatable, Sendable {
        /// The coordinates of the upper left corner.
        package var left, top: Int
        package var width, height: Int

        /// Returns a place by its distance from the lower right corner, near the buttons of alerts.
        package func place(fromRight: Int, fromBottom: Int) -> Place {
            Place(x: left + width - fromRight, y: top + height - fromBottom)
        }

        /// Returns a place by its distance from the upper left corner, near the text of alerts.
        package func place(fromLeft: Int, fromTop: Int) -> Place { Place(x: left + fromLeft, y: top + fromTop) }
    }

    /// Returns the frames of the alerts: visible windows that are neither as wide as the screen nor a helper's single
    /// pixel.
    package func alertFrames() async throws -> [Frame] {
        var frames: [Frame] = []
        let windows = try await xdotool("search", "--onlyvisible", "--name", ".*").output.split(separator: "\n")
        for window in windows {
            let frame = try await frame(ofWindow: String(window))
            if (10..<700).contains(frame.width) { frames.append(frame) }
        }
        return frames
    }

    /// Returns the frame of a window; all values are 0 when it is closed.
    package func frame(ofWindow number: String) async throws -> Frame {
        // The output has a line for each value: WINDOW=…, X=…, Y=…, WIDTH=…, HEIGHT=…, SCREEN=….
        let shell = try await xdotool("getwindowgeometry", "--shell", number).output
        var values: [Substring: Int] = [:]
        for line in shell.split(separator: "\n") {
            let parts = line.split(separator: "=")
            if parts.count == 2 { values[parts[0]] = Int(parts[1]) }
        }
        return Frame(
            left: values["X"] ?? 0, top: values["Y"] ?? 0, width: values["WIDTH"] ?? 0, height: values["HEIGHT"] ?? 0)
    }
}

/// The processes that stop together with the desktop.
actor Companions {
    private var processes: [RunningProcess] = []

    func add(_ process: RunningProcess) { processes.append(process) }
}
