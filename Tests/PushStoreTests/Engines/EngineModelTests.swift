// SPDX-License-Identifier: Apache-2.0

@testable import PushStore
import TestSupport
import Testing

/// The model test with single commands on both engines.
@Suite(.needsPostgres) struct EngineModelTests {
    private static let seeds = 0..<max(Patience.caseCount / 12, 3)

    @Test(.tags(.slow), arguments: EngineModelTests.seeds)
    func `random commands have the same results in both engines and in the model`(seed: Int) async throws {
        let emphasis = [ModelRun.Emphasis.order, .bounds, .windows][seed % 3]
        let fixture = try await PostgresFixture()
        let sqlite = try digest(seed, emphasis) { try TestStore($0) }
        let postgres = try digest(seed, emphasis) { try NodeTestStore(fixture, $0) }
        // The engines deliver at different times when windows are full, and drop at different times because of bounds.
        let difference = sqlite.difference(to: postgres, includesDeliveries: emphasis == .order)
        #expect(difference == nil, "seed \(seed)")
        #expect(sqlite.answers.count > 20)
    }

    private func digest(_ seed: Int, _ emphasis: ModelRun.Emphasis, open: ModelRun.Opening) throws -> ModelDigest {
        var run = try ModelRun(seed: UInt64(seed), emphasis, open: open)
        for step in 0..<20 {
            let problem = try run.step()
            try #require(problem == nil, "seed \(seed), step \(step), \(run.store): \(problem ?? "")")
        }
        #expect(try run.end() == [], "seed \(seed)")
        return run.digest
    }
}
