// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PayloadLint
internal import PushCore
@testable import PushServer
internal import TestSupport
internal import Testing

/// Checks that the generated reference pages are up to date.
///
/// `make pages` rewrites them by setting POSTHORN_UPDATE_PAGES=1.
struct GeneratedPagesTests {
    @Test func `the page of rejection reasons is up to date`() throws {
        try check("docs/reference/errors.md", renders: ErrorsPage.render())
    }

    @Test func `the page of limits is up to date`() throws {
        let constants = try ["Limits", "Limits+Agent"].flatMap { name in
            let source = try #require(RepositoryFiles.sources.first { $0.path.hasSuffix("/Vocabulary/\(name).swift") })
            return try LimitsPage.constants(in: source.text)
        }
        let clusterSection = try LimitsPage.clusterSection(from: RepositoryFiles.sources)
        try check("docs/reference/limits.md", renders: LimitsPage.render(constants, clusterSection: clusterSection))
    }

    @Test func `the page of payload checks is up to date`() throws {
        try check("docs/reference/payload-checks.md", renders: PayloadChecksPage.render())
    }

    @Test(arguments: PayloadCheck.allCases)
    func `the example of each payload check triggers it, and its sentence is short ASCII`(check: PayloadCheck) {
        #expect(check.sentence.utf8.count <= 120 && check.sentence.utf8.allSatisfy { 0x20...0x7E ~= $0 })
        guard case .payload(let payload) = check.example else { return }
        let bytes = Array(payload.utf8)
        let findings = PayloadLinter.findings(payload: bytes.span, pushType: .alert)
        #expect(findings.contains { $0.check == check }, "\(findings.map(\.line))")
    }

    @Test func `the page of settings is up to date`() throws {
        try check("docs/reference/configuration.md", renders: ConfigurationPage.render())
    }

    @Test func `the page of metrics is up to date`() throws {
        try check("docs/reference/metrics.md", renders: MetricsPage.render())
    }

    @Test func `the page of D-Bus is up to date and documents every method`() throws {
        let page = DBusPage.render()
        try check("docs/reference/dbus.md", renders: page)
        for file in [DBusPage.agentFile, DBusPage.appFile] {
            let names = readText("\(RepositoryPaths.root)/\(file)").matches(of: /<(method|signal) name="(\w+)"/)
            #expect(names.count >= 3)
            for name in names { #expect(page.contains("### \(name.1 == "signal" ? "Signal " : "")\(name.2)\n")) }
        }
    }

    @Test func `the agent's introspection data is up to date`() throws {
        try check("Sources/AgentBus/AgentIntrospection.swift", renders: DBusPage.introspectionSource())
    }

    @Test func `the sample configuration shows every setting, and no other`() throws {
        var section = ""
        var shown: [String] = []
        for line in readText("\(RepositoryPaths.root)/deploy/posthornd.ini").split(separator: "\n") {
            if let heading = line.wholeMatch(of: /\[(\w+)\]/) { section = String(heading.1) }
            if let setting = line.wholeMatch(of: /#(\w+) = .+/) { shown.append("\(section).\(setting.1)") }
        }
        let settings = ConfigurationKey.allCases.map { "\($0.section).\($0.rawValue)" }
        #expect(shown.sorted() == settings.sorted())
    }

    private func check(_ path: String, renders page: String) throws {
        let file = "\(RepositoryPaths.root)/\(path)"
        if ProcessInfo.processInfo.environment["POSTHORN_UPDATE_PAGES"] == "1" {
            try Data(page.utf8).write(to: URL(fileURLWithPath: file))
        }
        #expect(readText(file) == page, "\(path) is stale: run `make pages`")
    }
}
