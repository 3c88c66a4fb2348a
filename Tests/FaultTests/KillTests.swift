// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Kills the server at random moments under load: python/kill.py.
    struct KillTests {
        /// The results of a run with its accepted notifications.
        private struct Report: Decodable {
            let seed: Int
            let accepted: Int
            let ends: [String: Int]
            let problems: [String]
        }

        private func report(rounds: Int, durability: String) async throws -> Report {
            let result = try await RunningProcess.run(
                RepositoryPaths.python,
                [
                    "\(RepositoryPaths.root)/Tests/FaultTests/python/kill.py", "--rounds", "\(rounds)", "--durability",
                    durability,
                ],
                environment: [
                    "POSTHORN_SERVER": RepositoryPaths.program("posthornd"), "PYTHONDONTWRITEBYTECODE": "1",
                    "PYTHONPATH": "\(RepositoryPaths.root)/Tests/ConformanceTests/python",
                ], within: .seconds(120) + .seconds(5) * rounds)
            guard let report = try? result.decoded(Report.self) else {
                return try result.succeeded().decoded(Report.self)
            }
            return report
        }

        /// Runs 15 rounds, and 300 in `make soak`.
        @Test(.tags(.slow))
        func `after kills at any moment each accepted notification was shown once or its trace has its end`()
            async throws
        {
            let report = try await report(rounds: max(15, Patience.caseCount * 3 / 100), durability: "full")
            #expect(report.problems == [], "seed \(report.seed)")
            #expect(report.accepted > 0)
            for end in ["delivered", "replaced", "dropped"] {
                #expect(report.ends[end, default: 0] > 0, "\(end), seed \(report.seed): \(report.ends)")
            }
        }

        @Test(.tags(.slow)) func `the method detects losses when 200 does not wait for the disk`() async throws {
            var reports: [String] = []
            // All kills of one run may come at moments at which nothing waits for the disk.
            for _ in 0..<5 {
                let report = try await report(rounds: 6, durability: "relaxed")
                if report.ends["lost", default: 0] > 0 { return }
                reports.append("seed \(report.seed): \(report.ends)")
            }
            Issue.record("nothing was lost: \(reports)")
        }
    }
}
