// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// Runs all cases once against one server.
///
/// The test of each case looks up its result.
enum ConformanceRun {
    /// The results of a run.
    struct Findings: Sendable {
        /// The problem that each case found, by its ID.
        ///
        /// Empty when the requirement was met.
        var found: [String: String] = [:]
        /// The cases in which the server sent a rejection reason, by the reason.
        var reasons: [String: [String]] = [:]
    }

    /// The run's results.
    ///
    /// The first test that reads them starts the run.
    static let findings = Task { try await perform() }

    /// The directory of the Python programs.
    static let programs = "\(RepositoryPaths.root)/Tests/ConformanceTests/python"

    private static func perform() async throws -> Findings {
        let server = try await FullServer()
        let result = try await RunningProcess.run(
            RepositoryPaths.python,
            ["\(programs)/run.py", "--json", "--env-file", server.variablesFile, "--admin-socket", server.admin.path],
            environment: try await environment(in: server.files), within: .seconds(240))
        var findings = Findings()
        for line in result.output.split(separator: "\n") {
            let line = try JSONDecoder().decode(Line.self, from: Data(line.utf8))
            if let id = line.id { findings.found[id] = line.found }
            findings.reasons.merge(line.reasons ?? [:]) { $1 }
        }
        guard findings.found.count == ConformanceCase.all.count else {
            throw IncompleteRun(caseCount: findings.found.count, transcript: result.errorOutput)
        }
        return findings
    }

    /// Returns the environment variables that describe this build to the Python programs.
    ///
    /// - Parameter files: The directory for the library that puts a server's clock forward.
    /// - Returns: The variables.
    /// - Throws: `MissingProgram`, or the compiler's error.
    static func environment(in files: TemporaryDirectory) async throws -> [String: String] {
        let clock = files.path(of: "clock.so")
        try await RunningProcess.run(
            try RepositoryPaths.tool("clang"),
            [
                "-shared", "-fPIC", "-O", "-Wl,--version-script=\(programs)/clock.map", "-o", clock,
                "\(programs)/clock.c",
            ]
        ).succeeded()
        return [
            "POSTHORN_SERVER": RepositoryPaths.program("posthornd"), "POSTHORN_CLOCK_LIBRARY": clock,
            "POSTHORN_H2LOAD": try RepositoryPaths.tool("h2load"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "",
        ]
    }

    private struct Line: Decodable {
        let id: String?
        let found: String?
        let reasons: [String: [String]]?
    }
}

/// Reports that the program ended before it had run every case.
struct IncompleteRun: Error, CustomStringConvertible {
    /// The number of cases that ran.
    let caseCount: Int
    /// The program's output on standard error.
    let transcript: String

    var description: String { "only \(caseCount) cases ran: \(transcript)" }
}
