// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The way in which a process ended.
package enum ProcessExit: Equatable, Sendable {
    /// The process exited with this code.
    case code(Int32)
    /// The process was killed by this signal.
    case signal(Int32)

    /// Decodes a status of `waitpid`.
    init(waitStatus: Int32) {
        let signal = waitStatus & 0x7f
        self = signal == 0 ? .code((waitStatus >> 8) & 0xff) : .signal(signal)
    }
}

/// The exit status and the output of a finished program.
package struct ProgramResult: Sendable {
    package let exit: ProcessExit
    package let output: String
    package let errorOutput: String

    /// Decodes the output as JSON.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The value.
    /// - Throws: `UnexpectedOutput` with the whole output.
    package func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(output.utf8))
        } catch {
            throw UnexpectedOutput(result: self, problem: "\(error)")
        }
    }

    /// Checks that the exit code is 0.
    ///
    /// - Returns: The result itself.
    /// - Throws: `UnexpectedOutput` with the whole output.
    @discardableResult
    package func succeeded() throws -> ProgramResult {
        guard exit == .code(0) else { throw UnexpectedOutput(result: self, problem: "it should have succeeded") }
        return self
    }
}

/// The error for a program whose output or exit status is not the expected one.
package struct UnexpectedOutput: Error, CustomStringConvertible {
    package let result: ProgramResult
    /// The difference from the expectation.
    package let problem: String

    package var description: String {
        "\(problem): \(result.exit)\nstdout: \(result.output)\nstderr: \(result.errorOutput)"
    }
}

extension UnexpectedOutput {
    /// Creates the error for a process that ended too early.
    package init(ended process: RunningProcess) {
        self.init(
            result: ProgramResult(
                exit: process.exit ?? .code(-1), output: process.output, errorOutput: process.errorOutput),
            problem: "it should still run")
    }
}
