// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

/// Checks the systemd units in `deploy/systemd`.
struct UnitFileTests {
    private static let units = RepositoryFiles.withEnding("service").filter { $0.path.hasPrefix("deploy/systemd/") }

    @Test func `no unit names documentation that is not installed`() {
        #expect(Self.units.count == 3)
        let lines = Self.units.flatMap(\.lines).filter { $0.hasPrefix("Documentation=file:") }
        #expect(lines == [])
    }

    @Test func `the server writes no core dump, has memory and task limits, and always restarts`() throws {
        let unit = try #require(Self.units.first { $0.path.hasSuffix("/posthornd.service") })
        for setting in [
            "LimitCORE=0", "MemoryHigh=", "MemoryMax=", "TasksMax=", "OOMPolicy=stop", "Restart=on-failure",
            "StartLimitIntervalSec=0", "RestartSec=",
        ] {
            #expect(unit.lines.contains { $0.hasPrefix(setting) }, "\(setting)")
        }
    }

    @Test func `no unit writes a core dump, which would hold keys and payloads`() {
        // The session's agent is exempt, because the apps that it starts would inherit the limit.
        let units = Self.units.filter { !$0.path.hasSuffix("/posthorn-agent.service") }
        #expect(units.filter { !$0.lines.contains("LimitCORE=0") }.map(\.path) == [])
    }

    @Test func `the machine's agent has the same user in its unit, the bus policy and the user list`() throws {
        let unit = try #require(Self.units.first { $0.path.hasSuffix("/posthorn-agent-system.service") })
        #expect(unit.lines.contains("User=posthorn-agent"))
        let policy = readText("\(RepositoryPaths.root)/deploy/dbus/org.posthorn.Agent1.conf")
        #expect(policy.contains(#"<policy user="posthorn-agent">"#))
        let users = readText("\(RepositoryPaths.root)/deploy/sysusers/posthorn-agent.conf")
        #expect(users.contains("u posthorn-agent -"))
    }

    @Test func `the agent's unit passes only the session's environment to the apps that it starts`() throws {
        let unit = try #require(Self.units.first { $0.path.hasSuffix("/posthorn-agent.service") })
        let inherited = ["UMask=", "Nice=", "Limit", "Protect", "Private", "NoNewPrivileges=yes"]
        #expect(unit.lines.filter { line in inherited.contains { line.hasPrefix($0) } } == [])
    }
}
