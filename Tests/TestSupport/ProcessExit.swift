// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// How a process ended.
package enum ProcessExit: Equatable, Sendable {
    /// It left with this code.
    case code(Int32)
    /// This signal ended it.
    case signal(Int32)

    /// Reads a status of `waitpid`.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .code((waitStatus >> 8) & 0xff) : .signal(signal)
    }
}

/// What a program that ran to its end left behind.
package struct ProgramResult: Sendable {
    /// How it ended.
    package let exit: ProcessExit
    /// Its standard output.
    package let output: String
    /// Its standard error.
    package let errorOutput: String

    /// Decodes the output as JSON.
    ///
    /// - Parameter type: What to make of it.
    /// - Returns: The value.
    /// - Throws: `UnexpectedOutput`, with all that the program said.
    package func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(output.utf8))
        } catch {
            throw UnexpectedOutput(result: self, problem: "\(error)")
        }
    }

    /// Insists on exit code 0.
    ///
    /// - Returns: Itself.
    /// - Throws: `UnexpectedOutput`, with all that the program said.
    @discardableResult
    package func succeeded() throws -> ProgramResult {
        guard exit == .code(0) else { throw UnexpectedOutput(result: self, problem: "it should have succeeded") }
        return self
    }
}

/// A program said something else than the test needs.
package struct UnexpectedOutput: Error, CustomStringConvertible {
    /// What it left behind.
    package let result: ProgramResult
    /// What is wrong with it.
    package let problem: String

    /// Everything.
    package var description: String {
        "\(problem): \(result.exit)\nstdout: \(result.output)\nstderr: \(result.errorOutput)"
    }
}

extension UnexpectedOutput {
    /// A process ended that should run on.
    package init(ended process: RunningProcess) {
        self.init(
            result: ProgramResult(
                exit: process.exit ?? .code(-1), output: process.output, errorOutput: process.errorOutput),
            problem: "it should still run")
    }
}
