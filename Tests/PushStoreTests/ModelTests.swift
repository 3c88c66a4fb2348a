// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite struct ModelTests {
    @Test(.tags(.slow), arguments: 0..<Patience.caseCount)
    func `random commands do what the model does`(seed: Int) throws {
        var run = try ModelRun(seed: UInt64(seed))
        for step in 0..<40 {
            let problem = try run.step()
            try #require(problem == nil, "seed \(seed), step \(step): \(problem ?? "")")
        }
        try #require(try run.end() == ["ok"], "seed \(seed)")
    }
}

/// A generator that a seed determines: SplitMix64.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
