// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// A text file of the repository.
struct RepositoryFile: Sendable, CustomTestStringConvertible {
    /// The path relative to the repository's root, for example `Sources/PushCore/Limits.swift`.
    let path: String
    let text: String
    /// The lines of the file, including empty ones.
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The structure of a Markdown file.
    var document: MarkdownDocument { Self.documents[path] ?? MarkdownDocument(text) }

    /// The structure of each document by its path, because several rules need it.
    private static let documents = Dictionary(
        uniqueKeysWithValues: RepositoryFiles.withEnding("md").map { ($0.path, MarkdownDocument($0.text)) })

    /// The code of a Swift file, without comments and strings.
    var source: SwiftSource { Self.parsed[path] ?? SwiftSource(text) }

    /// The code of each Swift file by its path, because several rules need it.
    private static let parsed = Dictionary(
        uniqueKeysWithValues: RepositoryFiles.swift.map { ($0.path, SwiftSource($0.text)) })

    /// The name of the folder below `Sources`, which is the module.
    ///
    /// Nil outside `Sources`.
    var module: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    var testDescription: String { path }
}

/// The text files of the repository, without build products and installed tools.
enum RepositoryFiles {
    /// All files with an ending of `textEndings`, and the repository's own files without an ending.
    static let all: [RepositoryFile] = list()

    /// Returns the files with this ending.
    static func withEnding(_ ending: String) -> [RepositoryFile] { all.filter { $0.path.hasSuffix(".\(ending)") } }

    /// The Swift files of the modules and programs.
    static let sources = withEnding("swift").filter { $0.path.hasPrefix("Sources/") }

    /// Every Swift file, including tests.
    static let swift = withEnding("swift")

    private static let skippedFolders: Set<String> = [".build", ".git", ".venv", ".demo", "__pycache__", "FailCases"]
    private static let textEndings: Set<String> = [
        "swift", "c", "h", "md", "sh", "py", "txt", "ini", "service", "socket", "xml", "yml", "yaml",
        "json",
        "desktop", "svg", "in",
    ]
    private static let names: Set<String> = ["Makefile", "LICENSE", "run"]

    private static func list() -> [RepositoryFile] {
        let root = RepositoryPaths.root
        guard let walk = FileManager.default.enumerator(atPath: root) else {
            preconditionFailure("no directory at \(root)")
        }
        var files: [RepositoryFile] = []
        for case let path as String in walk {
            let url = URL(fileURLWithPath: path)
            if skippedFolders.contains(url.lastPathComponent) { walk.skipDescendants() }
            guard textEndings.contains(url.pathExtension) || names.contains(url.lastPathComponent) else { continue }
            guard let data = FileManager.default.contents(atPath: "\(root)/\(path)") else { continue }
            files.append(RepositoryFile(path: path, text: String(decoding: data, as: UTF8.self)))
        }
        return files.sorted { $0.path < $1.path }
    }
}
