// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// The units of systemd in `deploy/systemd`.
struct UnitFileTests {
    private static let units = RepositoryFiles.withEnding("service").filter { $0.path.hasPrefix("deploy/systemd/") }

    @Test func `no unit names documentation that nobody installs`() {
        #expect(Self.units.count == 2)
        let lines = Self.units.flatMap(\.lines).filter { $0.hasPrefix("Documentation=file:") }
        #expect(lines == [])
    }

    @Test func `the agent's unit hands nothing to the apps that it starts but what a session has`() throws {
        let unit = try #require(Self.units.first { $0.path.hasSuffix("/posthorn-agent.service") })
        let inherited = ["UMask=", "Nice=", "Limit", "Protect", "Private", "NoNewPrivileges=yes"]
        #expect(unit.lines.filter { line in inherited.contains { line.hasPrefix($0) } } == [])
    }
}
