// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
@testable import PosthornCLI
internal import PushHTTP
@testable import PushServer
internal import TestSupport
internal import Testing

/// Checks the commands, settings and addresses in documents against the code.
struct DocumentCommandTests {
    /// The documents that describe the current programs.
    ///
    /// Decisions also name rejected commands.
    private static let documents = RepositoryFiles.withEnding("md").filter {
        !$0.path.hasPrefix("docs/decisions/") && !$0.path.hasPrefix("CHANGELOG")
    }

    private static let programs = ["posthorn": AdminProgram.root.command, "posthornd": ServerCommand.command]

    @Test func `every command line of posthorn and posthornd in a code block is valid`() {
        var count = 0
        for file in Self.documents where file.path != "docs/reference/cli.md" {
            for words in file.document.shellBlocks.flatMap(ShellCommands.parse) {
                guard let program = Self.programs[words[0]] else { continue }
                count += 1
                if let problem = Self.problem(program, words.dropFirst()) {
                    Issue.record("\(file.path): \(words.joined(separator: " ")): \(problem)")
                }
            }
        }
        #expect(count > 80)
    }

    /// Checks code in running text, where `posthorn device show` may stand without its argument.
    @Test func `every command of posthorn and posthornd in running text exists, with each of its options`() {
        var count = 0
        for file in Self.documents {
            for code in file.document.inlineCode where !code.contains("…") && !code.contains("...") {
                guard let words = ShellCommands.parse(code).first, words.count > 1,
                    let program = Self.programs[words[0]]
                else { continue }
                count += 1
                switch Self.problem(program, words.dropFirst()) {
                case nil, .missingCommand, .missingArgument, .missingValue: break
                case .some(let problem): Issue.record("\(file.path): `\(code)`: \(problem)")
                }
            }
        }
        #expect(count > 100)
    }

    private static func problem(_ program: Command, _ words: ArraySlice<String>) -> UsageError.Problem? {
        if case .failure(let error) = program.parse(Array(words)) { error.problem } else { nil }
    }

    @Test func `every setting in a document is valid`() throws {
        let folder = try TemporaryDirectory()
        let sections = Set(ConfigurationKey.allCases.map(\.section))
        let agentNames = try Self.agentSettings()
        var count = 0
        for file in Self.documents {
            for block in file.document.codeBlocks where block.language == "ini" {
                let names = block.settings.map(\.name)
                guard let section = block.sections.first, sections.contains(section) else { continue }
                count += 1
                if !agentNames.isDisjoint(with: names), ConfigurationKey(rawValue: names[0])?.section != section {
                    #expect(Set(names).isSubset(of: agentNames), "\(file.path)")
                    continue
                }
                let path = try folder.write(block.lines.joined(separator: "\n") + "\n", to: "posthornd.ini")
                do throws(ConfigurationError) {
                    _ = try ServerConfiguration(file: path, flags: [], environment: [:], isRoot: false)
                } catch {
                    Issue.record("\(file.path): \(error)")
                }
            }
            for setting in file.document.inlineCode.compactMap({ $0.wholeMatch(of: #/([a-z]+_[a-z_]+) = (\S+)/#) }) {
                let name = String(setting.1)
                #expect(
                    ConfigurationKey(rawValue: name) != nil || agentNames.contains(name), "\(file.path): \(setting.0)")
            }
        }
        #expect(count > 8)
    }

    /// Returns the settings of `agent.ini`, from the page that describes them.
    private static func agentSettings() throws -> Set<String> {
        let page = try #require(documents.first { $0.path == "docs/reference/configuration.md" })
        let table = try #require(page.document.tables.first { $0.first?.first == "`[server]`" })
        return Set(table.flatMap { $0[0].matches(of: #/`([a-z_]+)`/#).map { String($0.1) } })
    }

    @Test func `every address of the server in a document exists`() {
        var count = 0
        for file in Self.documents {
            for address in file.text.matches(
                of: #/https?://(?:push\.example\.org|127\.0\.0\.1)(?::[0-9]+)?(/[^\s"'`)<]*)/#)
            {
                let path = String(address.1.prefix { $0 != "?" })
                count += 1
                #expect(Self.exists(path), "\(file.path): \(address.0)")
            }
        }
        #expect(count > 10)
    }

    private static func exists(_ path: String) -> Bool {
        if ["/metrics", "/healthz", "/readyz"].contains(path) || path.hasPrefix("/3/device/") { return true }
        switch SendRoute(path: path, method: .post) {
        case nil: return false
        // A path in ntfy's form is the name of an app.
        case .ntfy(let topic): return topic.prefixMatch(of: #/org[.-]example[.-]/#) != nil
        case .message, .alertmanager, .grafana, .ntfyJSON, .gotify: return true
        }
    }

    @Test(arguments: [
        ("a b # c", [["a", "b"]]), ("A=1 a 'b c' \"d'e\" | f\n\n g", [["a", "b c", "d'e"], ["f"], ["g"]]),
        ("a > f 2>&1 b\\\n  c && d; e", [["a", "b", "c"], ["d"], ["e"]]), ("a '' b#c", [["a", "", "b#c"]]),
    ])
    func `shell code is split into commands`(code: String, commands: [[String]]) {
        #expect(ShellCommands.parse(code) == commands)
    }
}
