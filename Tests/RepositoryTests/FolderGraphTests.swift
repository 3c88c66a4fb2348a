// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// Checks that the folders of a module depend on each other in one direction only.
///
/// The graph comes from the names of types: a folder depends on another one if its code uses a type that is declared
/// there. Nested types and members of extensions do not count, because their names are not unique.
struct FolderGraphTests {
    /// The modules whose folders have no cycle of two.
    ///
    /// PushServing has no folders.
    private static let modules = [
        "AgentPanel", "AgentStore", "DeviceAgent", "LinuxDesktop", "PanelToolkit", "PosthornCLI", "PushAPI", "PushCore",
        "PushHTTP", "PushServer", "PushStore",
    ]

    /// The types that a folder uses from another one, as `Type in File.swift`.
    private typealias Uses = [String: [String: Set<String>]]

    @Test(arguments: modules)
    func `no two folders of a module depend on each other`(module: String) {
        let uses = Self.uses(in: module)
        #expect(!uses.isEmpty)
        for (folder, others) in uses {
            for (other, types) in others where folder < other {
                guard let back = uses[other]?[folder] else { continue }
                Issue.record("\(folder) uses \(types.sorted()) of \(other), and \(other) uses \(back.sorted())")
            }
        }
    }

    private static func uses(in module: String) -> Uses {
        let files = RepositoryFiles.sources.filter { $0.module == module }.map { file in
            (name: file.path, folder: folder(of: file.path), code: file.source.code)
        }
        var folders: [String: Set<String>] = [:]
        for file in files {
            for type in declaredTypes(in: file.code) { folders[type, default: []].insert(file.folder) }
        }
        var uses: Uses = [:]
        for file in files {
            for word in Set(file.code.matches(of: /\b[A-Z]\w+/).map { String($0.0) }) {
                guard let owners = folders[word], owners.count == 1, let owner = owners.first, owner != file.folder
                else { continue }
                uses[file.folder, default: [:]][owner, default: []].insert("\(word) in \(file.name)")
            }
        }
        return uses
    }

    /// Returns the types at the top level of a file that other files can use.
    private static func declaredTypes(in code: String) -> [String] {
        code.matches(of: /(?m)^((?:@?[a-z]+(?:\([^)]*\))? )*)(?:class|struct|enum|protocol|typealias) (\w+)/)
            .filter { !$0.1.contains("private") }.map { String($0.2) }
    }

    /// Returns the name of the folder below the module; empty for a file beside the folders.
    private static func folder(of path: String) -> String {
        let parts = path.split(separator: "/")
        return parts.count > 3 ? String(parts[2]) : ""
    }
}
