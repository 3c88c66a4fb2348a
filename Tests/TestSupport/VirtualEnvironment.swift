// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A Python virtual environment with a set of packages, created once and cached in `.build` for later runs.
package struct VirtualEnvironment: Sendable {
    package let python: String

    private static let cache = "\(RepositoryPaths.root)/.build/virtual-environments"
    private static let known = Known()

    /// Returns the environment with these packages; the first call installs them from PyPI.
    ///
    /// - Parameter packages: The packages with their versions in pip's syntax, for example `aioapns==4.0`.
    /// - Returns: An environment with the packages and their dependencies.
    /// - Throws: `UnexpectedOutput` with pip's output, `MissingProgram` when `make setup` has not run.
    package static func with(_ packages: [String]) async throws -> VirtualEnvironment {
        try await known.environment(with: packages)
    }

    fileprivate static func make(_ packages: [String]) async throws -> VirtualEnvironment {
        let folder = "\(cache)/\(name(packages))"
        let made = VirtualEnvironment(python: "\(folder)/bin/python")
        if FileManager.default.isExecutableFile(atPath: made.python) { return made }
        guard FileManager.default.isExecutableFile(atPath: RepositoryPaths.python) else {
            throw MissingProgram(name: ".venv/bin/python")
        }
        try FileManager.default.createDirectory(atPath: cache, withIntermediateDirectories: true)
        // Use a temporary name until it is complete, because a run may be interrupted or run in parallel.
        let unfinished = "\(cache)/\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: unfinished) }
        try await install(packages, into: unfinished)
        do {
            try FileManager.default.moveItem(atPath: unfinished, toPath: folder)
        } catch  where FileManager.default.isExecutableFile(atPath: made.python) {
            // Another process created it first.
        }
        return made
    }

    /// Installs with the pip of `make setup`, which saves a few seconds compared with a pip in each environment.
    private static func install(_ packages: [String], into folder: String) async throws {
        let python = RepositoryPaths.python
        try await RunningProcess.run(python, ["-m", "venv", "--without-pip", folder], within: .seconds(60)).succeeded()
        try await RunningProcess.run(
            python,
            ["-m", "pip", "--python", "\(folder)/bin/python", "install", "--quiet", "--disable-pip-version-check"]
                + packages,
            within: .seconds(300)
        ).succeeded()
    }

    /// Returns the folder name for the packages.
    private static func name(_ packages: [String]) -> String {
        String(packages.joined(separator: "+").map { $0.isLetter || $0.isNumber || ".+-=".contains($0) ? $0 : "_" })
    }
}

/// The environments that this process has created or is creating, by their packages.
private actor Known {
    private var tasks: [[String]: Task<VirtualEnvironment, any Error>] = [:]

    func environment(with packages: [String]) async throws -> VirtualEnvironment {
        let task = tasks[packages] ?? Task { try await VirtualEnvironment.make(packages) }
        tasks[packages] = task
        return try await task.value
    }
}
