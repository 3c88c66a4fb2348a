// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Checks the files of `deploy/` with systemd's own programs.
struct DeploymentTests {
    /// The exposure levels in tenths.
    @Test(arguments: [("posthornd", 12), ("posthorn-agent-system", 19)])
    func `a system unit has a low exposure level`(name: String, levelMax: Int) async throws {
        try await RunningProcess.run(
            try RepositoryPaths.tool("systemd-analyze"),
            [
                "security", "--offline=yes", "--threshold=\(levelMax)",
                "\(RepositoryPaths.root)/deploy/systemd/\(name).service",
            ]
        ).succeeded()
    }

    @Test(arguments: [
        ("posthornd", "--system", "posthornd"), ("posthorn-agent", "--user", "posthorn-agent"),
        ("posthorn-agent-system", "--system", "posthorn-agent"),
    ])
    func `systemd understands every line of a unit`(name: String, manager: String, program: String) async throws {
        let files = try TemporaryDirectory()
        // systemd also checks that the program is installed, which this test does not need.
        let unit = readText("\(RepositoryPaths.root)/deploy/systemd/\(name).service")
            .replacing("ExecStart=/usr/bin/\(program)", with: "ExecStart=/bin/true")
        let path = try files.write(unit, to: "\(name).service", permissions: 0o644)
        let result = try await RunningProcess.run(
            try RepositoryPaths.tool("systemd-analyze"), [manager, "verify", path],
            environment: ["XDG_RUNTIME_DIR": files.path])
        #expect(unit.contains("ExecStart=/bin/true"))
        #expect(!(result.output + result.errorOutput).contains(name), "\(result)")
    }

    @Test func `the bus file and the agent's unit name each other`() {
        let service = readText("\(RepositoryPaths.root)/deploy/dbus/org.posthorn.Agent1.service")
        #expect(service.contains("Name=org.posthorn.Agent1\n"))
        #expect(service.contains("SystemdService=posthorn-agent.service\n"))
        #expect(FileManager.default.fileExists(atPath: "\(RepositoryPaths.root)/deploy/systemd/posthorn-agent.service"))
    }
}
