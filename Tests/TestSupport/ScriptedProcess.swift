// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A Python script that answers each JSON line with another: see Tests/EndToEndTests/Providers/wire.py.
///
/// Only one command may be pending: wait for the answer before the next `ask`.
package final class ScriptedProcess: Sendable {
    private let channel: Channel
    // Ordered with nothing else: only one command is pending at a time.
    private let answerCount = Atomic<Int>(0)

    private enum Channel {
        case forked(Task<ForkedScript, any Error>)
        case system(RunningProcess)
    }

    /// Starts a script of Tests/EndToEndTests/Providers; the first `ask` throws the error of a failed start.
    ///
    /// - Parameter script: The file name.
    package init(script: String) {
        channel = .forked(Task { try await ForkedScript(RepositoryPaths.provider(script)) })
    }

    /// Starts a script that needs the system's Python packages.
    ///
    /// - Parameters:
    ///   - path: The path relative to Tests/EndToEndTests.
    ///   - environment: Variables that are added to the environment of this process.
    /// - Throws: `MissingProgram`, `SystemFailure`.
    package init(systemScript path: String, environment: [String: String]) throws {
        channel = .system(
            try RunningProcess(
                RepositoryPaths.tool("python3"), ["-u", "\(RepositoryPaths.root)/Tests/EndToEndTests/\(path)"],
                environment: environment, hasInput: true))
    }

    /// Starts a script with the packages of Tests/requirements.txt in an interpreter of its own, which can import
    /// modules of other directories.
    ///
    /// - Parameters:
    ///   - path: The path relative to Tests.
    ///   - directories: The directories of modules, relative to Tests.
    /// - Throws: `SystemFailure`.
    package init(path: String, importingFrom directories: [String]) throws {
        let tests = "\(RepositoryPaths.root)/Tests"
        channel = .system(
            try RunningProcess(
                RepositoryPaths.python, ["-u", "\(tests)/\(path)"],
                environment: [
                    "PYTHONPATH": directories.map { "\(tests)/\($0)" }.joined(separator: ":"),
                    "PYTHONDONTWRITEBYTECODE": "1",
                ], hasInput: true))
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
        let index = answerCount.wrappingAdd(1, ordering: .relaxed).oldValue
        let (line, errorOutput) = try await exchange(text + "\n", index, within: duration)
        if let failure = try? JSONDecoder().decode(Failure.self, from: Data(line.utf8)) {
            throw ProviderFailure(text: failure.failure, transcript: errorOutput)
        }
        return try JSONDecoder().decode(type, from: Data(line.utf8))
    }

    /// Writes a line, and returns the line that answers it and the error output so far.
    private func exchange(
        _ text: String, _ index: Int, within duration: Duration
    ) async throws -> (line: String, errorOutput: String) {
        switch channel {
        case .forked(let task):
            let process = try await task.value
            try process.write(text)
            return (try await process.outputLine(index, within: duration), process.errorOutput)
        case .system(let process):
            try process.write(text)
            return (try await process.outputLine(index, within: duration), process.errorOutput)
        }
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
