// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A Python script that answers each JSON line with one: see Tests/EndToEndTests/Providers/wire.py.
///
/// One command at a time: ask again only when the answer has come.
package final class ScriptedProcess: Sendable {
    private let process: RunningProcess
    // Ordered with nothing else: only one command is under way at a time.
    private let answerCount = Atomic<Int>(0)

    /// Starts a script of Tests/EndToEndTests/Providers.
    ///
    /// - Parameter script: Its file name.
    /// - Throws: `MissingProgram` when `make setup` has not run, `SystemFailure` when it cannot start.
    package init(script: String) throws {
        guard FileManager.default.isExecutableFile(atPath: RepositoryPaths.python) else {
            throw MissingProgram(name: ".venv/bin/python")
        }
        process = try RunningProcess(
            RepositoryPaths.python, ["-u", RepositoryPaths.provider(script)], environment: ["PYTHONPATH": ""],
            hasInput: true)
    }

    /// Starts a script that needs packages of the system's.
    ///
    /// - Parameters:
    ///   - path: Below Tests/EndToEndTests.
    ///   - environment: Added to this process's.
    /// - Throws: `MissingProgram`, `SystemFailure`.
    package init(systemScript path: String, environment: [String: String]) throws {
        process = try RunningProcess(
            RepositoryPaths.tool("python3"), ["-u", "\(RepositoryPaths.root)/Tests/EndToEndTests/\(path)"],
            environment: environment, hasInput: true)
    }

    /// Sends a command and waits for its answer.
    ///
    /// - Parameters:
    ///   - command: The object, with `op`.
    ///   - duration: The deadline from now.
    ///   - type: What to make of the answer.
    /// - Returns: The answer.
    /// - Throws: `ProviderFailure` when the script says so; `DeadlinePassed`, `UnexpectedOutput` when it does not answer.
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

/// A script could not do what the test asked for.
package struct ProviderFailure: Error, CustomStringConvertible {
    /// The exception.
    package let text: String
    /// What the script wrote to standard error.
    package let transcript: String

    /// All of it.
    package var description: String { "\(text)\n\(transcript)" }
}

/// An answer without content.
package struct Done: Decodable, Sendable {}
