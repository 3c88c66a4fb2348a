// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// A page of docs/how-to/clients, cut into what its reader types and what the page promises.
struct ClientPage: CustomTestStringConvertible, Sendable {
    /// The device tokens of the page's table.
    enum Token: String, CaseIterable {
        case registered
        case nobodys = "nobody's"
        case gone = "no longer registered"
    }

    /// What a page's program is written in, by the name of its code block.
    enum Language: String, CaseIterable {
        case python
        case javaScript = "js"
        case shell = "sh"

        /// What a file of it is called.
        var fileName: String {
            switch self {
            case .python: "send.py"
            case .javaScript: "send.mjs"
            case .shell: "send.sh"
            }
        }
    }

    /// Where the pages are.
    static let folder = "\(RepositoryPaths.root)/docs/how-to/clients"

    /// The first word of a block that installs a library.
    private static let installers: Set<Substring> = ["pip", "npm", "go", "composer", "gem", "cargo"]

    /// The file's name without its ending.
    let name: String
    /// The whole page.
    let text: String

    init(_ name: String) {
        self.name = name
        text = readText("\(Self.folder)/\(name).md")
    }

    /// Every page but the list of them.
    static let all: [ClientPage] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".md") && $0 != "README.md" }.sorted().map {
            ClientPage(String($0.dropLast(3)))
        }
    }()

    var testDescription: String { name }

    /// The page says that our tests run its code.
    var isRun: Bool { text.contains("Run by our tests.") }

    /// What its `pip install` lines install.
    var packages: [String] {
        blocks("sh").flatMap { $0.split(separator: "\n") }.filter { $0.hasPrefix("pip install ") }
            .flatMap { $0.dropFirst("pip install ".count).split(separator: " ") }
            .map { $0.filter { $0 != "'" } }
    }

    /// The page's program: its only code block that is not an installation; nil when it is in another language.
    var program: (language: Language, code: String)? {
        let programs = Language.allCases.flatMap { language in
            blocks(language.rawValue).filter { !Self.installers.contains($0.prefix { $0 != " " }) }
                .map { (language, $0) }
        }
        return programs.count == 1 ? programs[0] : nil
    }

    /// What the page's program is written in.
    var language: Language? { program?.language }

    /// What the page says that its code prints, as a pattern in which `…` is anything.
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
