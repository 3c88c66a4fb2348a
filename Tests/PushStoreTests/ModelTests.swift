// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct ModelTests {
    @Test(.tags(.slow), arguments: 0..<Patience.caseCount)
    func `random commands have the same results in the store and in the model`(seed: Int) throws {
        var run = try ModelRun(seed: UInt64(seed))
        for step in 0..<40 {
            let problem = try run.step()
            try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
        }
        try #require(try run.end().isEmpty, "seed \(seed)")
    }
}
