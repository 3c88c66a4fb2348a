// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import PushAPI
internal import TestSupport
internal import Testing

/// Checks the documents: links have targets, and commands exist.
struct DocumentTests {
    private static let documents = RepositoryFiles.withEnding("md")

    @Test func `every relative link leads to a file and a heading`() {
        let broken = Self.documents.flatMap { file in
            file.document.links
                .filter { !$0.contains("://") && !$0.hasPrefix("mailto:") && !leadsSomewhere($0, from: file) }
                .map { "\(file.path): \($0)" }
        }
        #expect(broken == [])
    }

    @Test func `every row of a table has as many cells as its header`() {
        let uneven = Self.documents.flatMap { file in
            file.document.tables.flatMap { table in
                table.filter { $0.count != table.first?.count }.map { "\(file.path): \($0.joined(separator: " | "))" }
            }
        }
        #expect(uneven == [])
    }

    @Test func `the settings of a section stand together in the page of settings`() throws {
        let page = try #require(Self.documents.first { $0.path == "docs/reference/configuration.md" })
        let sections = try #require(page.document.tables.first).dropFirst(2).compactMap(\.first)
        let changes = zip(sections, sections.dropFirst()).count { $0 != $1 }
        #expect(changes + 1 == Set(sections).count)
    }

    @Test func `the page of settings lists each setting once, with its default`() throws {
        let page = try #require(Self.documents.first { $0.path == "docs/reference/settings.md" })
        let tables = page.document.tables
        try #require(tables.count == 2)
        for (scope, table) in zip([Setting.Scope.device, .app], tables) {
            let rows = table.dropFirst(2).map { row in row.prefix(3).map { $0.replacing("`", with: "") } }
            let settings = Setting.allCases.filter { $0.scopes.contains(scope) }
            #expect(rows.map { $0[0] } == settings.map(\.rawValue))
            #expect(rows.map { $0[2] } == settings.map { $0.defaultValue(for: scope) })
        }
    }

    /// The documents that name tests, with the least number of names.
    @Test(arguments: [("docs/reference/human-interface.md", 300), ("docs/explanation/slow-tests.md", 20)])
    func `a document names tests that exist`(path: String, countMin: Int) throws {
        let page = try #require(Self.documents.first { $0.path == path })
        let named = page.text.matches(of: /\b([A-Z][A-Za-z0-9]*Tests): (\*[^*]+\*(?:; \*[^*]+\*)*)/).flatMap { cell in
            cell.2.matches(of: /\*([^*]+)\*/).map { Named(suite: String(cell.1), test: String($0.1)) }
        }
        #expect(named.count >= countMin)
        let known = RepositoryFiles.swift.filter { $0.path.hasPrefix("Tests/") }.reduce(into: Set<Named>()) {
            known, file in
            let tests = file.text.matches(of: /func\s+`([^`]+)`/).map { String($0.1) }
            for suite in file.text.matches(
                of: /(?:struct|enum|class|extension) (?:[A-Za-z]+\.)?([A-Z][A-Za-z0-9]*Tests)\b/)
            {
                known.formUnion(tests.map { Named(suite: String(suite.1), test: $0) })
            }
        }
        #expect(named.filter { !known.contains($0) } == [])
    }

    @Test func `the requirements table covers every requirement`() throws {
        let page = try #require(Self.documents.first { $0.path == "docs/reference/human-interface.md" })
        let cells = page.document.tables.flatMap { $0.compactMap(\.first) }
        let numbers = cells.flatMap { cell in
            cell.matches(of: /R([0-9]+)(?: to R([0-9]+))?/).flatMap { range -> [Int] in
                guard let first = Int(range.1) else { return [] }
                return Array(first...(range.2.flatMap { Int($0) } ?? first))
            }
        }
        #expect(Set(1...247).subtracting(numbers) == [])
    }

    /// A test function of a suite.
    private struct Named: Hashable {
        var suite: String
        var test: String
    }

    @Test func `the threat model names suites and attacks that exist`() throws {
        let page = try #require(Self.documents.first { $0.path == "docs/explanation/threat-model.md" })
        let suites = RepositoryFiles.swift.flatMap { file in
            file.text.matches(of: /(?:struct|enum|class) ([A-Z][A-Za-z0-9]*Tests)\b/).map { String($0.1) }
        }
        let named = page.text.matches(of: /\b[A-Z][A-Za-z0-9]*Tests\b/).map { String($0.0) }
        #expect(!named.isEmpty && Set(named).subtracting(suites) == [])

        let attacks = try #require(RepositoryFiles.swift.first { $0.path == "Tests/AttackTests/AttackTests.swift" })
        let cited = page.text.matches(of: /AttackTests \(([a-z0-9, -]+)\)/).flatMap { $0.1.split(separator: ", ") }
        let missing = cited.filter { $0 != "name" && !attacks.text.contains("\"\($0)\"") }
        #expect(cited.count > 20 && missing == [])
    }

    @Test func `every make target that a document names exists`() throws {
        let targets = try makeTargets()
        for file in Self.documents {
            let code = file.document.codeLines.joined(separator: "\n")
            let inText = file.text.matches(of: /`make ([a-z]+)/).map { String($0.1) }
            let inCode = code.matches(of: /(?m)^\s*(?:\$ )?make ([a-z]+)/).map { String($0.1) }
            #expect(Set(inText + inCode).subtracting(targets) == [], "\(file.path)")
        }
    }

    @Test func `every file of documentation is reachable from the README`() {
        var reached: Set<String> = ["README.md"]
        var waiting = ["README.md"]
        while let path = waiting.popLast() {
            guard let file = Self.documents.first(where: { $0.path == path }) else { continue }
            for link in file.document.links where !link.contains("://") {
                let bare = String(link.prefix { $0 != "#" })
                let folder = URL(fileURLWithPath: "/\(path)").deletingLastPathComponent()
                let target = String(folder.appendingPathComponent(bare).standardizedFileURL.path.dropFirst())
                if reached.insert(target).inserted { waiting.append(target) }
            }
        }
        let pages = Self.documents.map(\.path).filter { $0.hasPrefix("docs/") }
        #expect(pages.filter { !reached.contains($0) } == [])
    }

    @Test func `every document that the code names exists`() {
        let code = RepositoryFiles.all.filter { !$0.path.hasSuffix(".md") }
        let missing = code.flatMap { file in
            file.text.matches(of: /(?:docs|examples|deploy)\/[A-Za-z0-9_.\/-]+\.(?:md|ini|xml|service|png|py|sh)/)
                .map { String($0.0) }
                .filter { !FileManager.default.fileExists(atPath: "\(RepositoryPaths.root)/\($0)") }
                .map { "\(file.path): \($0)" }
        }
        #expect(missing == [])
    }

    @Test func `the list that make prints holds every target`() async throws {
        let listing = try await RunningProcess.run(
            try RepositoryPaths.tool("make"), ["-C", RepositoryPaths.root, "help"]
        ).succeeded()
        for target in try makeTargets() {
            #expect(listing.output.contains("make \(target) "), "make \(target)")
        }
    }

    private func leadsSomewhere(_ link: String, from file: RepositoryFile) -> Bool {
        let path = "\(RepositoryPaths.root)/\(file.path)"
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        let target = parts[0].isEmpty ? path : "\(folder)/\(parts[0])"
        guard FileManager.default.fileExists(atPath: target) else { return false }
        guard parts.count > 1 else { return true }
        let name = URL(fileURLWithPath: target).standardizedFileURL.path.dropFirst(RepositoryPaths.root.count + 1)
        return Self.documents.first { $0.path == name }?.document.anchors.contains(parts[1]) == true
    }

    private func makeTargets() throws -> Set<String> {
        let makefile = try #require(RepositoryFiles.all.first { $0.path == "Makefile" })
        let phony = try #require(makefile.text.firstMatch(of: /\.PHONY: (.+)/))
        return Set(phony.1.split(separator: " ").map(String.init))
    }
}
