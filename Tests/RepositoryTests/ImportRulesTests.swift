// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Checks which module imports which, so that the module boundaries hold.
struct ImportRulesTests {
    /// Maps each C library's module to the one Swift module that wraps it.
    private static let wrappers = [
        "CLinux": "PushNet", "COpenSSL": "PushTLS", "CNghttp2": "PushHTTP", "CSQLite": "PushSQLite",
        "CPQ": "PushPostgres",
        "CSystemd": "PushDBus", "CCurl": "PushCurl", "CINIH": "PushINI", "CCanberra": "PushSound",
        "CPulse": "PushSound", "CSndfile": "PushSound",
        "CAdwaita": "PanelToolkit", "CWslay": "PushWebSocket",
    ]

    /// The modules, folders and files off the data path that may use FoundationEssentials for dates, files and JSON.
    private static let controlPlane = [
        "Sources/PushServer/AdminAPI/", "Sources/PushServer/DeviceAPI/", "Sources/PushServer/Configuration/",
        "Sources/PushServer/Backup/", "Sources/PushServer/Ephemeral/", "Sources/PushServer/Installation/",
        "Sources/DeviceAgent/",
        "Sources/PosthornCLI/", "Sources/PushServer/Services/ControlAnswer.swift",
        "Sources/PushServer/Entry/ServerURL.swift",
        "Sources/posthornd/Main.swift", "Sources/posthorn-agent/Main.swift",
    ]

    @Test func `every C library has a wrapper in the table`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: "\(RepositoryPaths.root)/Sources")
        let libraries = folders.filter { folder in
            let map = "\(RepositoryPaths.root)/Sources/\(folder)/module.modulemap"
            return FileManager.default.fileExists(atPath: map)
        }
        #expect(Set(libraries) == Set(Self.wrappers.keys))
    }

    @Test(arguments: wrappers.keys.sorted())
    func `each C library is imported by one module only`(library: String) throws {
        let importers = RepositoryFiles.swift.filter { imports(of: $0).contains(library) }
        let modules = Set(importers.map { $0.module ?? $0.path })
        #expect(modules == [try #require(Self.wrappers[library])])
    }

    @Test func `no program links Foundation with its locale data`() {
        let heavy: Set<String> = ["Foundation", "FoundationInternationalization"]
        #expect(RepositoryFiles.sources.filter { !imports(of: $0).isDisjoint(with: heavy) }.map(\.path) == [])
    }

    @Test func `the data path does not import FoundationEssentials`() {
        let users = RepositoryFiles.sources.filter { imports(of: $0).contains("FoundationEssentials") }.map(\.path)
        #expect(users.filter { path in !Self.controlPlane.contains { path.hasPrefix($0) } } == [])
    }

    @Test func `no file re-exports its imports`() {
        #expect(RepositoryFiles.sources.filter { $0.source.code.contains("@_exported") }.map(\.path) == [])
    }

    private func imports(of file: RepositoryFile) -> Set<String> { Self.imports[file.path] ?? [] }

    /// The imported modules of each Swift file, by path.
    ///
    /// Cached because reading all files takes seconds.
    private static let imports = Dictionary(
        uniqueKeysWithValues: RepositoryFiles.swift.map { ($0.path, importedModules(in: $0.source.code)) })

    private static func importedModules(in code: String) -> Set<String> {
        let lines = code.split(separator: "\n").filter { $0.utf8.contains("import ".utf8) }
        return Set(
            lines.compactMap { line in
                line.firstMatch(of: /^\s*(?:@\S+\s+)*(?:\w+\s+)?import\s+(?:\w+\s+)?(\w+)/).map { String($0.1) }
            })
    }
}
