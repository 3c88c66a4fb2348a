// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// docs/reference/cli.md is made from what the programs print; `make pages` rewrites it.
struct GeneratedPagesCommandLineTests {
    @Test func `the page of commands is up to date`() async throws {
        let path = "\(RepositoryPaths.root)/docs/reference/cli.md"
        let page = try await render()
        if ProcessInfo.processInfo.environment["POSTHORN_UPDATE_PAGES"] == "1" {
            try Data(page.utf8).write(to: URL(fileURLWithPath: path))
        }
        #expect(readText(path) == page, "docs/reference/cli.md is stale: run `make pages`")
    }

    private func render() async throws -> String {
        var sections = [introduction]
        for program in ["posthorn", "posthornd", "posthorn-agent", "posthorn-panel"] {
            let help = try await help(program, [])
            sections.append("## \(program)\n\n```\n\(help)\n```")
            for command in commands(in: help) { sections += try await describe(program, [command]) }
        }
        return sections.joined(separator: "\n\n") + "\n"
    }

    /// A command's section, and those of the commands below it.
    private func describe(_ program: String, _ path: [String]) async throws -> [String] {
        let text = try await help(program, path)
        var sections = ["### \(program) \(path.joined(separator: " "))\n\n```\n\(withoutCommonParts(text))\n```"]
        for command in commands(in: text) { sections += try await describe(program, path + [command]) }
        return sections
    }

    private func help(_ program: String, _ path: [String]) async throws -> String {
        // Whoever runs this has a home of their own, which a default may name.
        let result = try await RunningProcess.run(
            RepositoryPaths.program(program), path + ["--help"], environment: ["COLUMNS": "80", "HOME": "/nonexistent"])
        return try result.succeeded().output.trimmingCharacters(in: .newlines)
    }

    private func commands(in help: String) -> [String] {
        paragraphs(of: help).first { $0.hasPrefix("Commands:") }?.split(separator: "\n").dropFirst()
            .compactMap { $0.prefixMatch(of: /[ ]{2}([a-z][a-z-]*)/).map { String($0.1) } } ?? []
    }

    /// What each command repeats stands once, with the program.
    private func withoutCommonParts(_ help: String) -> String {
        let common = ["Options of every command:", "Environment:", "Exit codes:", "'posthorn "]
        return paragraphs(of: help).filter { paragraph in !common.contains { paragraph.hasPrefix($0) } }
            .joined(separator: "\n\n")
    }

    private func paragraphs(of text: String) -> [String] {
        text.replacing(/\n{2,}/, with: "\u{1}").split(separator: "\u{1}").map(String.init)
    }

    private let introduction = """
        # Command line

        <!-- Made from what the programs print by `make pages`. -->

        What `--help` says, in one place. `posthorn` is for administrators and for people; `posthornd` and
        `posthorn-agent` are usually started by systemd, and `posthorn-panel` is a window. Every command of `posthorn` takes
        `--json`, and its exit code says what happened. `posthorn completion bash` (or zsh, fish) prints completions.
        """
}
