// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// A text file of the repository.
struct RepositoryFile: Sendable, CustomTestStringConvertible {
    /// Relative to the top, for example `Sources/PushCore/Limits.swift`.
    let path: String
    let text: String

    /// The lines, empty ones too.
    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The folder below `Sources`, which is the module; nil outside.
    var module: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    var testDescription: String { path }
}

/// The text files of the repository, without what is built or installed.
enum RepositoryFiles {
    /// All that has one of the endings of `textEndings`, and the files without ending that are ours.
    static let all: [RepositoryFile] = list()

    /// Files with this ending.
    static func withEnding(_ ending: String) -> [RepositoryFile] { all.filter { $0.path.hasSuffix(".\(ending)") } }

    /// Swift files of the modules and programs.
    static let sources = withEnding("swift").filter { $0.path.hasPrefix("Sources/") }

    /// Every Swift file, tests too.
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
