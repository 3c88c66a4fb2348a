// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// The real posthornd while the machine under it fails: one test after the other, as each starts several processes.
@Suite(.serialized) enum Faults {
    /// How many steps of a long walk are taken: few in an ordinary run, as many as there are in `make soak`.
    static func steps<Step>(_ all: [Step], count: Int, seed: UInt64 = 1) -> [Step] {
        let wanted = count * Patience.caseCount / 100
        guard all.count > wanted else { return all }
        var state = seed
        var left = all
        return (0..<wanted).map { _ in
            // Knuth's generator is random enough to choose with.
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return left.remove(at: Int(state >> 33) % left.count)
        }
    }
}
