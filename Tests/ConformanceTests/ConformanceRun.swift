// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// One run of all cases against one server; every test of a case looks into it.
enum ConformanceRun {
    /// What was found.
    struct Findings: Sendable {
        /// What each case found wrong, by its id; empty when it was met.
        var found: [String: String] = [:]
        /// The cases that were given a reason over the wire, by the reason.
        var reasons: [String: [String]] = [:]
    }

    /// Starts with the first test that asks.
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

    /// What the Python programs need to know of this build.
    ///
    /// - Parameter files: Where the library goes that puts a server's clock forward.
    /// - Returns: The variables.
    /// - Throws: `MissingProgram`, or what the compiler says.
    static func environment(in files: TemporaryDirectory) async throws -> [String: String] {
        let clock = files.path(of: "clock.so")
        try await RunningProcess.run(
            try RepositoryPaths.tool("clang"), ["-shared", "-fPIC", "-O", "-o", clock, "\(programs)/clock.c"]
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

/// The program ended before every case had its turn.
struct IncompleteRun: Error, CustomStringConvertible {
    /// How many had theirs.
    let caseCount: Int
    /// What the program wrote to standard error.
    let transcript: String

    /// Both.
    var description: String { "only \(caseCount) cases ran: \(transcript)" }
}
