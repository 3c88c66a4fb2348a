// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

/// Compares docs/reference/log-events.md with the log calls in the code.
struct LogEventsPageTests {
    private static let text = readText("\(RepositoryPaths.root)/docs/reference/log-events.md")

    /// Returns `event level` for each row of a section's table.
    private static func listed(of section: String) throws -> [String] {
        let sections = text.split(separator: "\n## ").filter { $0.hasPrefix("Events of \(section)\n") }
        let section = try #require(sections.first)
        let table = try #require(MarkdownDocument(String(section)).tables.first)
        return table.dropFirst().compactMap { row in
            guard row.count == 3, row[0].hasPrefix("`") else { return nil }
            return "\(row[0].filter { $0 != "`" }) \(row[1])"
        }
    }

    private static func logged(by modules: [String]) -> Set<String> {
        var events: Set<String> = []
        for file in RepositoryFiles.sources where file.module.map(modules.contains) ?? false {
            for call in file.text.matches(of: /\W(error|warning|info|debug)\(\s*"([a-z][a-z_\-]+)"/) {
                events.insert("\(call.2) \(call.1)")
            }
            // These helpers of the agent log the name that they receive as a warning.
            for call in file.text.matches(of: /(?:confirm\(\.\w+, result, |noteEnd\()"([a-z_]+)"/) {
                events.insert("\(call.1) warning")
            }
            guard file.path.hasSuffix("/Registrar.swift") else { continue }
            for name in file.text.matches(of: /case \.\w+: "([a-z_]+)"/) { events.insert("\(name.1) warning") }
        }
        return events
    }

    @Test(arguments: [
        ("posthornd", ["PushCluster", "PushServer", "PushServing"]),
        ("posthorn-agent", ["LinuxDesktop", "AgentStore", "DeviceAgent"]),
        ("posthorn-panel", ["AgentPanel"]),
    ])
    func `the page lists every event of a program with its level, and no other`(program: String, modules: [String])
        throws
    {
        let listed = try Self.listed(of: program)
        let logged = Self.logged(by: modules)
        #expect(Set(listed).subtracting(logged) == [], "listed and not logged")
        #expect(logged.subtracting(listed) == [], "logged and not listed")
        #expect(listed.count == Set(listed).count && !logged.isEmpty)
    }

    @Test func `the page lists the events of the log itself`() throws {
        let source = try #require(RepositoryFiles.sources.first { $0.path == "Sources/PushNet/LogOutput.swift" })
        let names = Set(source.text.matches(of: /"(log_\w+)"/).map { String($0.1) })
        #expect(try Set(Self.listed(of: "all programs").map { String($0.split(separator: " ")[0]) }) == names)
    }
}
