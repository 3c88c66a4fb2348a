// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A private message bus of a test: a real `dbus-daemon` that starts only the services that the test defines.
package final class DesktopBus: Sendable {
    /// The value for `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    /// The directory of the socket; files in it are deleted together with the bus.
    package let files: TemporaryDirectory
    private let daemon: RunningProcess
    private let kept: TemporaryDirectory?

    /// Starts the bus and waits until it listens.
    ///
    /// - Parameters:
    ///   - environment: Variables for the services that the bus starts, added to the tests' environment.
    ///   - kept: The directory with the services' files, which is kept as long as the bus.
    ///   - earlier: A stopped bus whose address the new one takes, as after a restart; nil for a new address.
    ///   - isOpen: Whether other users of the machine may connect.
    /// - Throws: `DeadlinePassed`, `MissingProgram`.
    package init(
        environment: [String: String] = [:], keeping kept: TemporaryDirectory? = nil,
        inPlaceOf earlier: DesktopBus? = nil, isOpen: Bool = false
    ) async throws {
        self.kept = kept
        files = try earlier?.files ?? TemporaryDirectory(isOpen: isOpen)
        try files.makeDirectory("services")
        let socket = files.path(of: "bus")
        let configuration = try files.write(
            DesktopBus.configuration(socket: socket, services: files.path(of: "services"), isOpen: isOpen),
            to: "bus.conf")
        address = "unix:path=\(socket)"
        let variables = environment.merging(["DBUS_SESSION_BUS_ADDRESS": address]) { $1 }
        daemon = try RunningProcess(
            RepositoryPaths.tool("dbus-daemon"),
            ["--config-file=\(configuration)", "--nofork", "--print-address", "--nopidfile"], environment: variables)
        _ = try await daemon.outputLine()
        if isOpen { try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: socket) }
    }

    /// Adds a service that the bus starts when its name is called.
    ///
    /// - Parameters:
    ///   - name: The bus name.
    ///   - command: The `Exec` value of the service file.
    /// - Throws: An error when the file cannot be written or the bus does not answer.
    package func addService(_ name: String, command: String) async throws {
        try files.write("[D-BUS Service]\nName=\(name)\nExec=\(command)\n", to: "services/\(name).service")
        _ = try await busctl(
            "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    }

    /// Runs the system's `busctl` on the bus, as an independent client.
    ///
    /// - Parameter arguments: The arguments, for example `call`, the name, the path, the interface and the method.
    /// - Returns: The output, even of a failed command.
    /// - Throws: `MissingProgram`, `DeadlinePassed`.
    package func busctl(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(RepositoryPaths.tool("busctl"), ["--address=\(address)"] + arguments)
    }

    /// Starts `dbus-monitor`, which prints the messages on the bus, and waits until it listens.
    ///
    /// - Parameter rule: A match rule.
    /// - Returns: The process; its `output` is the transcript.
    /// - Throws: `MissingProgram`, `DeadlinePassed`.
    package func monitor(_ rule: String) async throws -> RunningProcess {
        let monitor = try RunningProcess(
            RepositoryPaths.tool("dbus-monitor"), ["--address", address, rule], environment: [:])
        // It prints the bus's NameAcquired before it becomes a monitor, and NameLost right after.
        try await eventually("dbus-monitor listens", evidence: { monitor.transcript }) {
            monitor.output.contains("NameLost")
        }
        return monitor
    }

    /// Waits until a bus name has an owner.
    package func waitForOwner(of name: String, evidence: () -> String = { "" }) async throws {
        try await eventually("\(name) has an owner", evidence: evidence) {
            // `busctl status` is not used, because it fails on systems without control groups.
            try await busctl(
                "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", "s",
                name
            ).exit == .code(0)
        }
    }

    /// Stops the bus, as at the end of a session.
    package func stop() async throws { try await daemon.killNow() }

    private static func configuration(socket: String, services: String, isOpen: Bool) -> String {
        """
        <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
        <busconfig>
          <type>session</type>
          <listen>unix:path=\(socket)</listen>
          <auth>EXTERNAL</auth>
          <servicedir>\(services)</servicedir>
          <policy context="default">
            \(isOpen ? "<allow user=\"*\"/>" : "")
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
        </busconfig>
        """
    }
}
