// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A Python of its own for one client library, made once and kept below .build.
///
/// The versions stand in Tests/requirements/NAME.txt; another text makes another environment, so an old one is never
/// mended. `make clean` removes them all.
package struct VirtualEnvironment: Sendable {
    /// Its interpreter.
    package let python: String

    /// Makes it unless it is there: needs the package index only then.
    ///
    /// - Parameter name: That of the requirements file, without `.txt`.
    /// - Throws: `MissingProgram` when `make setup` has not run, `VirtualEnvironmentFailure` when a package cannot be
    ///   had.
    package init(_ name: String) async throws {
        let requirements = "\(RepositoryPaths.root)/Tests/requirements/\(name).txt"
        let folder = "\(RepositoryPaths.root)/.build/virtual-environments"
        let path = "\(folder)/\(name)-\(Self.digest(of: readText(requirements)))"
        python = "\(path)/bin/python"
        if FileManager.default.isExecutableFile(atPath: python) { return }
        try await Self.make(path, name: name, requirements: requirements, folder: folder)
    }

    /// Builds aside and moves it there whole: another test run may be at the same.
    private static func make(_ path: String, name: String, requirements: String, folder: String) async throws {
        let installer = "\(RepositoryPaths.root)/.venv/bin/pip"
        guard FileManager.default.isExecutableFile(atPath: installer) else {
            throw MissingProgram(name: ".venv/bin/pip")
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let draft = "\(path).\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: draft) }
        do {
            try await RunningProcess.run(
                try RepositoryPaths.tool("python3"), ["-m", "venv", "--without-pip", draft], within: .seconds(60)
            ).succeeded()
            try await RunningProcess.run(
                installer,
                [
                    "--python", "\(draft)/bin/python", "install", "--quiet", "--disable-pip-version-check",
                    "--no-compile", "--requirement", requirements,
                ], within: .seconds(120)
            ).succeeded()
        } catch {
            throw VirtualEnvironmentFailure(name: name, cause: "\(error)")
        }
        do { try FileManager.default.moveItem(atPath: draft, toPath: path) } catch {
            // Somebody else was first: theirs is as good.
            guard FileManager.default.isExecutableFile(atPath: "\(path)/bin/python") else { throw error }
        }
    }

    /// FNV-1a in hexadecimal digits: tells texts apart, guards against nobody.
    private static func digest(of text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

/// The packages of a client library could not be installed.
package struct VirtualEnvironmentFailure: Error, CustomStringConvertible {
    /// The environment's name.
    package let name: String
    /// What the programs said.
    package let cause: String

    /// What is wrong and what to do.
    package var description: String {
        "cannot install Tests/requirements/\(name).txt: is the Python package index reachable? It is needed once. \(cause)"
    }
}
