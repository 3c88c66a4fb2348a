// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// Breaks a cluster in random ways under load: for twenty seconds, or for `POSTHORN_TEST_SECONDS` in `make test-cluster`.
    @Suite(.tags(.slow), .preloadsLibrary) struct ClusterChaosTests {
        @Test func `under random faults each accepted notification arrives once and in order`()
            async throws
        {
            let seconds = Patience.clusterSeconds
            let load =
                seconds == nil
                ? ClusterSite.Load() : ClusterSite.Load(devices: 300, senders: 60, pause: 0.3, stay: 30)
            let site = try await ClusterSite(load, extras: try await ClusterExtras())
            print("ClusterChaosTests: POSTHORN_TEST_SEED=\(site.seed)")
            var generator = SeededGenerator(seed: site.seed)
            let start = try await site.note("the faults begin")
            let end = ContinuousClock.now + .seconds(seconds ?? 20)
            let possibleKinds = RandomClusterFault.Kind.possible(at: site)
            let impossibleKinds = RandomClusterFault.Kind.allCases.filter { !possibleKinds.contains($0) }
            var kinds: [RandomClusterFault.Kind] = []
            var faultCount = 0
            while ContinuousClock.now < end {
                if kinds.isEmpty { kinds = possibleKinds.shuffled(using: &generator) }
                let fault = RandomClusterFault(
                    kinds.removeFirst(), secondsMax: seconds == nil ? 4 : 15, using: &generator)
                let next = RandomClusterFault(.linkCut, secondsMax: 3, using: &generator)
                // Some faults come together with a cut link.
                let isAccompanied = Int.random(in: 0..<4, using: &generator) == 0
                if isAccompanied { try await site.cut(ClusterSite.directions(ofNode: next.node)) }
                try await fault.run(at: site)
                faultCount += 1
                if isAccompanied {
                    try await site.heal(ClusterSite.directions(ofNode: next.node), resets: next.resets)
                }
                try await site.waitUntilServing()
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...3000, using: &generator)))
            }
            let figures = try await site.figures(since: start)
            let report = try await site.conclude()
            let found = try await site.total("posthorn_minute_reading_found_total")
            let missing = impossibleKinds.isEmpty ? "" : " (without root, none of \(impossibleKinds))"
            print(
                """
                ClusterChaosTests: \(faultCount) faults\(missing), \(report.ends), \(report.problems.count) problems, \
                posthorn_minute_reading_found_total \(found)
                """)
            figures.print(as: "random faults")
            report.check()
        }
    }
}
