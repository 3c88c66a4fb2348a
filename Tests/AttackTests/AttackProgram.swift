// SPDX-License-Identifier: Apache-2.0

internal import TestSupport

/// Runs the Python programs of this target against the built `posthornd`, with the interpreter of `make setup`.
enum AttackProgram {
    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - name: The program's file below python/.
    ///   - arguments: The program's arguments.
    ///   - duration: The deadline from now.
    /// - Returns: The exit status and the output, whether it succeeded or not.
    /// - Throws: `DeadlinePassed` when it does not end.
    static func run(
        _ name: String, _ arguments: [String] = [], within duration: Duration = Patience.usual
    ) async throws -> ProgramResult {
        try await RunningProcess.run(
            RepositoryPaths.python, ["\(RepositoryPaths.root)/Tests/AttackTests/python/\(name)"] + arguments,
            environment: [
                "POSTHORN_SERVER": RepositoryPaths.program("posthornd"), "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPATH": "",
            ], within: duration)
    }
}
