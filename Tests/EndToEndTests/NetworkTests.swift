// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Runs an agent and a server on a private network, whose addresses and routes a test changes.
    @Suite(.enabled(if: OwnNetwork.isPossible, "a network namespace needs root or user namespaces"))
    struct NetworkTests {
        @Test func `an agent reconnects immediately when its network path changes, and otherwise stays`()
            async throws
        {
            let network = try await OwnNetwork()
            let server = try await network.startServer()
            let agent = try network.startAgent(authority: server.authority)
            try await eventually("it is connected", evidence: { agent.transcript }) { count("connected", agent) == 1 }

            // This is how a container's network comes up. It does not affect our connection.
            try await network.ip("address", "add", "10.77.0.1/24", "dev", "lo")
            try await eventually("it looked", evidence: { agent.transcript }) { count("machine", agent) == 1 }
            #expect(count("disconnected", agent) == 0)

            let start = ContinuousClock.now
            try await network.leaveFrom("10.9.0.3")
            try await eventually("it is connected again", evidence: { agent.transcript }) {
                count("connected", agent) == 2
            }
            // The next ping comes 20 seconds after the last answer. An agent that waits for it fails on any machine.
            #expect(ContinuousClock.now - start < .seconds(5) * min(Patience.factor, 3))
            #expect(agent.errorOutput.contains(#"reason="the network changed""#))
            withExtendedLifetime(server) {}
        }

        private func count(_ event: String, _ agent: RunningProcess) -> Int {
            agent.errorOutput.split(separator: "\n").count { $0.contains(" event=\(event) ") }
        }
    }
}

/// A network namespace whose loopback device has the only addresses.
private final class OwnNetwork: Sendable {
    static let isPossible =
        (try? Process.run(URL(fileURLWithPath: "/usr/bin/unshare"), arguments: ["-rn", "true"]).waitForSuccess())
        ?? false

    private static let server = "10.9.0.1"
    private let files: TemporaryDirectory
    private let holder: RunningProcess

    init() async throws {
        files = try TemporaryDirectory()
        holder = try RunningProcess("/usr/bin/unshare", ["-rn", "sh", "-c", "echo made; exec sleep infinity"])
        _ = try await holder.outputLine()
        try await ip("link", "set", "lo", "up")
        for address in [Self.server, "10.9.0.2", "10.9.0.3"] {
            try await ip("address", "add", "\(address)/24", "dev", "lo")
        }
        try await leaveFrom("10.9.0.2")
    }

    func ip(_ arguments: String...) async throws {
        try await RunningProcess.run("/usr/bin/nsenter", inside("/usr/sbin/ip") + arguments).succeeded()
    }

    /// Sets the source address of packets to the server.
    func leaveFrom(_ source: String) async throws {
        try await ip(
            "route", "replace", "table", "local", "local", Self.server, "dev", "lo", "proto", "kernel", "scope", "host",
            "src", source)
    }

    struct Server {
        let process: RunningProcess
        let authority: String
    }

    func startServer() async throws -> Server {
        let data = files.path(of: "server")
        let process = try RunningProcess(
            "/usr/bin/nsenter",
            inside(RepositoryPaths.program("posthornd")) + [
                "--data-directory", data, "--listen", "\(Self.server):2197", "--names", Self.server, "--open-enrolment",
                "yes",
            ])
        try await eventually("the server listens", evidence: { process.transcript }) {
            process.errorOutput.contains("event=listening")
        }
        return Server(process: process, authority: "\(data)/authority.pem")
    }

    func startAgent(authority: String) throws -> RunningProcess {
        var environment = ["HOME": files.path, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"]
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=/nowhere"
        for name in ["CONFIG", "STATE", "DATA", "CACHE"] { environment["XDG_\(name)_HOME"] = files.path(of: name) }
        environment["POSTHORN_AGENT_URL"] = "https://\(Self.server):2197"
        environment["POSTHORN_AGENT_CA_FILE"] = authority
        return try RunningProcess(
            "/usr/bin/nsenter", inside(RepositoryPaths.program("posthorn-agent")), environment: environment)
    }

    private func inside(_ program: String) -> [String] {
        ["--preserve-credentials", "-U", "-n", "-t", "\(holder.identifier)", "--", program]
    }
}

extension Process {
    func waitForSuccess() -> Bool {
        waitUntilExit()
        return terminationStatus == 0
    }
}
