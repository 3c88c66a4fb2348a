// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// A page of docs/how-to/clients, split into the reader's input and the promised output.
struct ClientPage: CustomTestStringConvertible, Sendable {
    /// The device tokens of the page's table.
    enum Token: String, CaseIterable {
        case registered
        case nobodys = "unknown"
        case gone = "no longer registered"
    }

    /// The language of a page's program, by the name of its code block.
    enum Language: String, CaseIterable {
        case python
        case javaScript = "js"
        case shell = "sh"

        /// The name of the program's file.
        var fileName: String {
            switch self {
            case .python: "send.py"
            case .javaScript: "send.mjs"
            case .shell: "send.sh"
            }
        }
    }

    /// The folder of the pages.
    static let folder = "\(RepositoryPaths.root)/docs/how-to/clients"

    /// The first word of a block that installs a library.
    private static let installers: Set<Substring> = ["pip", "npm", "go", "composer", "gem", "cargo"]

    /// The file's name without its extension.
    let name: String
    /// The text of the whole page.
    let text: String

    init(_ name: String) {
        self.name = name
        text = readText("\(Self.folder)/\(name).md")
    }

    /// All pages except their list.
    static let all: [ClientPage] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map {
            ClientPage(String($0.dropLast(3)))
        }
    }()

    var testDescription: String { name }

    /// Whether the page says that our tests run its code.
    var isRun: Bool { text.replacing("\n", with: " ").contains("Our tests run this code.") }

    /// The packages of its `pip install` lines.
    var packages: [String] {
        blocks("sh").flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("pip install ") }
            .flatMap { $0.dropFirst("pip install ".count).split(separator: " ") }
            .map { $0.filter { $0 != "'" } }
    }

    /// The page's program, which is its only code block besides installations; nil if it is in another language.
    var program: (language: Language, code: String)? {
        let programs = Language.allCases.flatMap { language in
            blocks(language.rawValue).filter { !Self.installers.contains($0.prefix { $0 != " " }) }
                .map { (language, $0) }
        }
        return programs.count == 1 ? programs[0] : nil
    }

    /// The language of the page's program.
    var language: Language? { program?.language }

    /// Returns the output that the page promises for its code, as a pattern in which `…` matches anything.
    func answer(to token: Token) throws -> Regex<Substring> {
        let row = try #require(
            text.split(separator: "\n").first { $0.hasPrefix("| \(token.rawValue) | `") }, "\(name): \(token.rawValue)")
        let promise = try #require(row.split(separator: "`").dropFirst().first)
        let pattern = promise.split(separator: "…", omittingEmptySubsequences: false)
            .map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: ".*")
        return try Regex(pattern, as: Substring.self)
    }

    private func blocks(_ language: String) -> [String] {
        let fence = "\n```\(language)\n"
        return text.components(separatedBy: fence).dropFirst().compactMap { $0.components(separatedBy: "```").first }
    }
}
