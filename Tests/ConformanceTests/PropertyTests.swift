// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Sends valid requests with random changes: python/properties.py.
@Suite(.tags(.slow)) struct PropertyTests {
    /// The result of one seed.
    private struct Line: Decodable {
        let seed: Int?
        let problem: String?
        let request: String?
        let tried: Int?
    }

    /// The number of requests: 300, or three times `POSTHORN_TEST_CASES` if that is more.
    private static let count = max(300, 3 * Patience.caseCount)

    @Test func `a randomly changed request gets a documented answer, however its frames are split`()
        async throws
    {
        let server = try await FullServer()
        let result = try await RunningProcess.run(
            RepositoryPaths.python,
            [
                "\(ConformanceRun.programs)/properties.py", "--env-file", server.variablesFile, "--admin-socket",
                server.admin.path, "--count", "\(Self.count)",
            ], environment: ["PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"],
            within: .seconds(30) + .milliseconds(50) * Self.count
        ).succeeded()
        let lines = try result.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        for line in lines {
            if let seed = line.seed {
                Issue.record("seed \(seed): \(line.problem ?? "") for \(line.request ?? "")")
            }
        }
        #expect(lines.last?.tried == Self.count)
        #expect(server.server.process.exit == nil)
    }
}
