// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A message bus of a test's own: a real `dbus-daemon` with the services that the test writes, and no others.
package final class DesktopBus: Sendable {
    /// For `DBUS_SESSION_BUS_ADDRESS`.
    package let address: String
    /// The directory with the socket, for whatever else should go when the bus goes.
    package let files: TemporaryDirectory
    private let daemon: RunningProcess
    private let kept: TemporaryDirectory?

    /// Starts the bus and waits until it listens.
    ///
    /// - Parameters:
    ///   - environment: For the services that the bus starts, beside that of the tests.
    ///   - kept: Where such services have their files: lives as long as the bus.
    ///   - earlier: One that has ended: this one is at the same address, as after a restart.
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
    ///   - command: The service file's `Exec`.
    /// - Throws: When the file cannot be written or the bus does not answer.
    package func addService(_ name: String, command: String) async throws {
        try files.write("[D-BUS Service]\nName=\(name)\nExec=\(command)\n", to: "services/\(name).service")
        _ = try await busctl(
            "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
    }

    /// Runs the system's `busctl` on the bus: a client that is not ours.
    ///
    /// - Parameter arguments: For example `call`, the name, the path, the interface, the method.
    /// - Returns: What it wrote, whether it succeeded or not.
    /// - Throws: `MissingProgram`, `DeadlinePassed`.
    package func busctl(_ arguments: String...) async throws -> ProgramResult {
        try await RunningProcess.run(RepositoryPaths.tool("busctl"), ["--address=\(address)"] + arguments)
    }

    /// Starts `dbus-monitor`, which prints what crosses the bus, and waits until it listens.
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

    /// Waits until somebody owns a name.
    package func waitForOwner(of name: String, evidence: () -> String = { "" }) async throws {
        try await eventually("\(name) has an owner", evidence: evidence) {
            // Not `busctl status`, which fails where there are no control groups.
            try await busctl(
                "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner", "s",
                name
            ).exit == .code(0)
        }
    }

    /// Ends the bus, as at the end of a session.
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
