// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// Runs of whole clusters by seed, with broadcasts.
struct BroadcastSimulationTests {
    @Test(arguments: [Simulation.Options(), .init(isSlow: true), .init(isLossy: true)])
    func `no accepted broadcast is lost, late, out of order or sent twice on a stream`(
        options: Simulation.Options
    ) throws {
        var options = options
        options.hasBroadcasts = true
        for seed in 1...UInt64(Patience.caseCount * 2) {
            let simulation = Simulation(seed: seed, options)
            let notifications = simulation.run()
            let broadcasts = try #require(simulation.broadcastFindings)
            #expect(notifications.isClean && broadcasts.isClean, "seed \(seed): \(notifications), \(broadcasts)")
        }
    }

    @Test func `without faults, all broadcasts are accepted and arrive in order`() throws {
        var nowOrNeverCount = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            let simulation = Simulation(seed: seed, .init(faults: [], hasBroadcasts: true))
            let notifications = simulation.run()
            let broadcasts = try #require(simulation.broadcastFindings)
            #expect(notifications.isClean && broadcasts.isClean, "seed \(seed): \(notifications), \(broadcasts)")
            #expect(broadcasts.acceptedCount == 24 && broadcasts.mixedDisorderCount == 0, "seed \(seed): \(broadcasts)")
            nowOrNeverCount += broadcasts.nowOrNeverCount
        }
        #expect(nowOrNeverCount > 100)
    }
}
