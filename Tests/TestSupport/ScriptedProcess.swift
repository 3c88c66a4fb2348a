// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A Python script that answers each JSON line with another: see Tests/EndToEndTests/Providers/wire.py.
///
/// Only one command may be pending: wait for the answer before the next `ask`.
package final class ScriptedProcess: Sendable {
    private let process: RunningProcess
    // Ordered with nothing else: only one command is pending at a time.
    private let answerCount = Atomic<Int>(0)

    /// Starts a script of Tests/EndToEndTests/Providers.
    ///
    /// - Parameter script: The file name.
    /// - Throws: `MissingProgram` when `make setup` has not run, `SystemFailure` when it cannot start.
    package init(script: String) throws {
        guard FileManager.default.isExecutableFile(atPath: RepositoryPaths.python) else {
            throw MissingProgram(name: ".venv/bin/python")
        }
        process = try RunningProcess(
            RepositoryPaths.python, ["-u", RepositoryPaths.provider(script)], environment: ["PYTHONPATH": ""],
            hasInput: true)
    }

    /// Starts a script that needs the system's Python packages.
    ///
    /// - Parameters:
    ///   - path: The path relative to Tests/EndToEndTests.
    ///   - environment: Variables that are added to the environment of this process.
    /// - Throws: `MissingProgram`, `SystemFailure`.
    package init(systemScript path: String, environment: [String: String]) throws {
        process = try RunningProcess(
            RepositoryPaths.tool("python3"), ["-u", "\(RepositoryPaths.root)/Tests/EndToEndTests/\(path)"],
            environment: environment, hasInput: true)
    }

    /// Sends a command and waits for its answer.
    ///
    /// - Parameters:
    ///   - command: The JSON object, with `op`.
    ///   - duration: The deadline from now.
    ///   - type: The type of the answer.
    /// - Returns: The answer.
    /// - Throws: `ProviderFailure` when the script reports a failure; `DeadlinePassed` or `UnexpectedOutput` when it
    ///   does not answer.
    package func ask<Answer: Decodable>(
        _ command: some Encodable, within duration: Duration = Patience.usual, as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        let text = String(decoding: try JSONEncoder().encode(command), as: UTF8.self)
        try process.write(text + "\n")
        let index = answerCount.wrappingAdd(1, ordering: .relaxed).oldValue
        let line = Data(try await process.outputLine(index, within: duration).utf8)
        if let failure = try? JSONDecoder().decode(Failure.self, from: line) {
            throw ProviderFailure(text: failure.failure, transcript: process.errorOutput)
        }
        return try JSONDecoder().decode(type, from: line)
    }

    private struct Failure: Decodable {
        let failure: String
    }
}

/// The error for a command that a script could not execute.
package struct ProviderFailure: Error, CustomStringConvertible {
    /// The exception's text.
    package let text: String
    /// The standard error output of the script.
    package let transcript: String

    package var description: String { "\(text)\n\(transcript)" }
}

package struct Done: Decodable, Sendable {}
