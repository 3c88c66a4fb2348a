// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

/// The units of systemd in `deploy/systemd`.
struct UnitFileTests {
    private static let units = RepositoryFiles.withEnding("service").filter { $0.path.hasPrefix("deploy/systemd/") }

    @Test func `no unit names documentation that nobody installs`() {
        #expect(Self.units.count == 3)
        let lines = Self.units.flatMap(\.lines).filter { $0.hasPrefix("Documentation=file:") }
        #expect(lines == [])
    }

    @Test func `the machine's agent has one user in its unit, in the bus's policy and in the list of users`() throws {
        let unit = try #require(Self.units.first { $0.path.hasSuffix("/posthorn-agent-system.service") })
        #expect(unit.lines.contains("User=posthorn-agent"))
        let policy = readText("\(RepositoryPaths.root)/deploy/dbus/org.posthorn.Agent1.conf")
        #expect(policy.contains(#"<policy user="posthorn-agent">"#))
        let users = readText("\(RepositoryPaths.root)/deploy/sysusers/posthorn-agent.conf")
        #expect(users.contains("u posthorn-agent -"))
    }

    @Test func `the agent's unit hands nothing to the apps that it starts but what a session has`() throws {
        let unit = try #require(Self.units.first { $0.path.hasSuffix("/posthorn-agent.service") })
        let inherited = ["UMask=", "Nice=", "Limit", "Protect", "Private", "NoNewPrivileges=yes"]
        #expect(unit.lines.filter { line in inherited.contains { line.hasPrefix($0) } } == [])
    }
}
