// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A Python interpreter with a set of packages of its own, made once and kept below `.build` for the next run.
package struct VirtualEnvironment: Sendable {
    /// The interpreter.
    package let python: String

    private static let cache = "\(RepositoryPaths.root)/.build/virtual-environments"
    private static let known = Known()

    /// Answers the environment with these packages; the first to ask installs them from PyPI.
    ///
    /// - Parameter packages: As pip takes them, with their versions, for example `aioapns==4.0`.
    /// - Returns: An environment that holds them and what they need.
    /// - Throws: `UnexpectedOutput` with what pip said, `MissingProgram` when `make setup` has not run.
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
        // Under another name until it is whole: a run that was interrupted, or one beside this, must not show.
        let unfinished = "\(cache)/\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: unfinished) }
        try await install(packages, into: unfinished)
        do {
            try FileManager.default.moveItem(atPath: unfinished, toPath: folder)
        } catch  where FileManager.default.isExecutableFile(atPath: made.python) {
            // Another process was quicker.
        }
        return made
    }

    /// Uses the pip of `make setup`: one pip for all is a few seconds cheaper than one in each.
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

    /// The packages as the name of a folder.
    private static func name(_ packages: [String]) -> String {
        String(packages.joined(separator: "+").map { $0.isLetter || $0.isNumber || ".+-=".contains($0) ? $0 : "_" })
    }
}

/// The environments that this process has made or is making, by their packages.
private actor Known {
    private var tasks: [[String]: Task<VirtualEnvironment, any Error>] = [:]

    func environment(with packages: [String]) async throws -> VirtualEnvironment {
        let task = tasks[packages] ?? Task { try await VirtualEnvironment.make(packages) }
        tasks[packages] = task
        return try await task.value
    }
}
