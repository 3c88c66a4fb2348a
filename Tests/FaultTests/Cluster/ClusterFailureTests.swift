// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// One fault of a cluster at a time: docs/reference/cluster-failures.md.
    @Suite(.tags(.slow)) struct ClusterFailureTests {
        /// The load, which is higher where the figures are printed.
        private let load =
            Patience.clusterSeconds == nil
            ? ClusterSite.Load() : ClusterSite.Load(devices: 60, senders: 90, pause: 0.4)
        /// The number of notifications that the cluster accepts during a fault.
        private let count = Patience.clusterSeconds == nil ? 300 : 2000

        /// Lets the cluster accept notifications during a fault, ends it, and checks all promises.
        ///
        /// - Parameters:
        ///   - name: The name for the figures.
        ///   - refusing: The nodes that may answer 503 meanwhile.
        ///   - fault: Causes the fault.
        ///   - end: Ends it.
        /// - Throws: The error of one of the programs.
        private func survive(
            _ name: String, refusing: [Int] = [],
            _ fault: (ClusterSite) async throws -> Void, end: (ClusterSite) async throws -> Void
        ) async throws {
            let site = try await ClusterSite(load)
            let start = try await site.note(name)
            try await fault(site)
            try await site.waitForAccepted(count)
            let during = try await site.figures(since: start)
            try await end(site)
            try await site.waitUntilServing()
            let figures = try await site.figures(since: start)
            figures.print(as: name)
            for (index, node) in ClusterSite.names.enumerated() where !refusing.contains(index) {
                #expect(during.nodes[node]?.refused ?? 0 == 0, "\(node) answers 503: \(during)")
            }
            try await site.conclude().check()
        }

        @Test func `node killed: the others accept, and its devices connect elsewhere`() async throws {
            try await survive("C1, a node killed", refusing: [0]) { site in
                try await site.kill(node: 0)
            } end: { site in
                try await site.start(node: 0)
            }
        }

        @Test func `standby dies: nothing but latency changes`() async throws {
            try await survive("C3, a standby killed") { site in
                try await site.kill(server: 1)
            } end: { site in
                try await site.start(server: 1)
                try await site.trio.waitForStandbys(2, of: 0)
            }
        }

        @Test(arguments: [true, false])
        func `link between two nodes cut, both ways or one way: nothing but latency changes`(isBoth: Bool) async throws
        {
            let both = ClusterSite.directions("n1", "n2")
            let directions = isBoth ? both : [both[1]]
            try await survive("C3, a link cut\(isBoth ? "" : " one way")") { site in
                try await site.cut(directions)
            } end: { site in
                try await site.heal(directions, resets: isBoth)
            }
        }

        @Test func `node cut off from all others, not from PostgreSQL: only latency changes, and the node warns`()
            async throws
        {
            let directions = ClusterSite.directions(ofNode: 1)
            try await survive("C5, a node cut off from the other nodes") { site in
                try await site.cut(directions)
            } end: { site in
                try await site.waitForWarning(ofNode: 1)
                try await site.heal(directions, resets: false)
            }
        }

        @Test func `primary dies: nothing is lost when the right standby is promoted`() async throws {
            try await survive("C2, the primary killed, promoted at once", refusing: [0, 1, 2]) { site in
                try await site.kill(server: 0)
                try await site.promoteRightStandby()
            } end: { site in
                try await site.rejoin(server: 0)
            }
        }

        @Test func `all killed at once: nothing is lost`() async throws {
            let site = try await ClusterSite(load)
            try await site.waitForAccepted(count)
            let start = try await site.note("all killed")
            try await site.killEverything()
            let ready = try await site.startEverything()
            try await site.waitUntilServing()
            try await site.figures(since: start).print(as: "C4, all killed")
            try await site.figures(since: ready).print(as: "C4, since PostgreSQL serves")
            try await site.conclude().check()
        }

        @Test func `damaged row: it is left out and reported, and nothing else is`() async throws {
            var load = ClusterSite.Load(devices: 8)
            load.away = 4
            let site = try await ClusterSite(load)
            try await site.waitForAccepted(count)
            // A device that was never connected has no row in `hosts`.
            let damaged = try await site.sql(
                """
                UPDATE pending SET record = set_byte(record, length(record) - 9, 0) WHERE (device, key) = (
                    SELECT device, key FROM pending p WHERE key = id
                        AND coalesce(expires_at_ms > (extract(epoch FROM now()) + 600) * 1000, true)
                        AND NOT EXISTS (SELECT 1 FROM hosts h WHERE h.device = p.device) ORDER BY id LIMIT 1)
                RETURNING id, substring(encode(record, 'escape') FROM '"n": ([0-9]+)')
                """
            ).split(separator: "|").map(String.init)
            try #require(damaged.count == 2, "no row waits")
            let report = try await site.conclude()
            #expect(report.count == 1 && report.problems.count == 1, "\(report.problems)")
            #expect(report.problems.first?.hasPrefix("LOST: {'number': \(damaged[1]),") ?? false, "\(report.problems)")
            let logs = site.nodes.map(\.process.now.errorOutput).joined()
            #expect(logs.contains("store-damaged-row") && logs.contains(damaged[0]))
        }

        @Test func `the wrong standby promoted by hand: the loss is noticed`() async throws {
            var load = ClusterSite.Load()
            load.away = 10
            let site = try await ClusterSite(load)
            try await site.kill(server: 2)
            try await site.waitForAccepted(300)
            try await site.kill(server: 0)
            // Server 1 has everything; server 2 has nothing that was accepted since it was killed.
            try await site.start(server: 2)
            try await site.kill(server: 1)
            try await site.promoteAlone(server: 2)
            try await site.rejoin(servers: [0, 1])
            try await site.waitUntilServing()
            let report = try await site.conclude(checksTables: false)
            #expect(report.ends["lost", default: 0] > 0, "\(report.ends)")
        }
    }
}

extension ClusterFigures {
    /// Prints the figures in one line.
    func print(as name: String) {
        let waits = ["p50", "p99", "max"].map { "\($0) \(milliseconds[$0] ?? 0) ms" }.joined(separator: ", ")
        let streams =
            "\(Int(streamPauses["count"] ?? 0)) streams lost, again after p95 \(streamPauses["p95"] ?? 0) s"
        let pauses = nodes.sorted { $0.key < $1.key }.map { name, node in
            "\(name) \(node.accepted) x 200, \(node.refused) x 503, pause \(node.longestPause) s"
        }
        Swift.print(
            """
            Cluster figures. \(name): \(accepted) accepted, \(refused) x 503, \(doubtful) unanswered; \(waits); no 200 \
            anywhere for \(longestPause) s; \(streams); \(pauses.joined(separator: "; "))
            """)
    }
}
