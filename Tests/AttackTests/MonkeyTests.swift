// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

/// Runs random connections, administration and stops at any moment against a real server: python/monkey.py.
@Suite(.tags(.slow)) struct MonkeyTests {
    /// The results of all rounds with one seed.
    private struct Report: Decodable {
        let seed: String
        let rounds: Int
        let ends: [String: Int]
        let problems: [String]
    }

    /// Runs 10 seconds, and an hour in `make soak`.
    ///
    /// POSTHORN_MONKEY_SEED repeats the choices of a run.
    @Test func `no order of events of peers and administrators ends the server or stops honest service`() async throws {
        let seconds = Patience.caseCount > 100 ? 3600 : 10
        let result = try await AttackProgram.run(
            "monkey.py", ["--seconds", "\(seconds)"], within: .seconds(120 + seconds))
        let report = try result.succeeded().decoded(Report.self)
        print("monkey: seed \(report.seed), \(report.rounds) rounds, \(report.ends)")
        #expect(report.problems == [], "POSTHORN_MONKEY_SEED=\(report.seed)")
    }
}
