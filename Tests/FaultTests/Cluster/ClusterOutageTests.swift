// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// Faults of a cluster that must last longer than leases and the patience of nodes: docs/reference/cluster-failures.md.
    @Suite(.tags(.slow), .waitsLong) struct ClusterOutageTests {
        private static let outage = Duration.seconds(15)
        private let load = ClusterSite.Load(devices: 60, senders: 90, pause: 0.4)

        /// Lets a fault last for `outage`, ends it, and checks all promises; returns the figures of the fault.
        @discardableResult
        private func survive(
            _ name: String, _ fault: (ClusterSite) async throws -> Void, end: (ClusterSite) async throws -> Void
        ) async throws -> ClusterFigures {
            let site = try await ClusterSite(load)
            let start = try await site.note(name)
            try await fault(site)
            try await Task.sleep(for: Self.outage)
            let during = try await site.figures(since: start)
            try await end(site)
            let seconds = try await site.waitUntilServing()
            during.print(as: name)
            try await site.figures(since: start).print(as: "\(name), until \(seconds) s after its end")
            try await site.conclude().check()
            return during
        }

        @Test func `node stopped 15 s and continued: its devices are elsewhere, and nothing comes twice`() async throws
        {
            let during = try await survive("a node stopped") { site in
                try await site.freeze(node: 0)
            } end: { site in
                try await site.thaw(node: 0)
            }
            for node in ["n2", "n3"] { #expect(during.nodes[node]?.refused == 0, "\(during)") }
        }

        @Test func `node stopped and continued after another start has its number: it exits with 75`() async throws {
            let site = try await ClusterSite(load)
            try await site.freeze(node: 0)
            let other = try await site.startAgain(node: 0)
            try await site.thaw(node: 0)
            let exit = try await site.nodes[0].process.now.waitForExit(within: .seconds(60))
            #expect(exit == .code(75), "\(site.nodes[0].process.now.transcript)")
            try await other.killNow()
            try await site.start(node: 0)
            try await site.waitUntilServing()
            try await site.conclude().check()
        }

        @Test func `primary stopped 15 s and continued: requests wait or get 503, and nothing is lost`() async throws {
            try await survive("the primary stopped") { site in
                try await site.freeze(server: 0)
            } end: { site in
                try await site.thaw(server: 0)
            }
        }

        @Test func `old primary still runs, cut off: nothing is accepted over it, and nothing is lost when it ends`()
            async throws
        {
            let during = try await survive("C2, the primary replaced, the former one still runs for 15 s") { site in
                try await site.freeze(server: 0)
                try await site.promoteRightStandby()
                try await site.thaw(server: 0)
            } end: { site in
                try await site.kill(server: 0)
                try await site.rejoin(server: 0)
            }
            #expect(during.refused > 0, "\(during)")
        }

        @Test func `both standbys die: commits wait, and nothing is accepted until one is back`() async throws {
            let during = try await survive("both standbys killed") { site in
                for server in [1, 2] { try await site.kill(server: server) }
            } end: { site in
                for server in [1, 2] { try await site.start(server: server) }
                try await site.trio.waitForStandbys(2, of: 0)
            }
            #expect(during.refused > 0, "\(during)")
        }

        @Test func `link between two nodes cut for 15 s: nothing but latency changes`() async throws {
            let directions = ClusterSite.directions("n1", "n3")
            let during = try await survive("C3, a link cut for 15 s") { site in
                try await site.cut(directions)
            } end: { site in
                #expect(try await site.status(of: 0).contains("link-down"))
                try await site.heal(directions, resets: false)
            }
            #expect(during.refused == 0, "\(during)")
        }

        @Test func `node cut off from PostgreSQL only: it is suspended, and the others accept`() async throws {
            try await cutOff("C5, a node cut off from PostgreSQL", ClusterSite.directionsToDatabase(ofNode: 1))
        }

        @Test func `node cut off from PostgreSQL and from all others: it is suspended, and the others accept`()
            async throws
        {
            try await cutOff(
                "C5, a node cut off from everything",
                ClusterSite.directions(ofNode: 1) + ClusterSite.directionsToDatabase(ofNode: 1))
        }

        private func cutOff(_ name: String, _ directions: [[String]]) async throws {
            let during = try await survive(name) { site in
                try await site.cut(directions)
            } end: { site in
                try await site.heal(directions, resets: true)
            }
            let node = try #require(during.nodes["n2"])
            Swift.print(
                "Cluster figures. \(name): last 200 after \(node.lastAccepted) s, last delivery "
                    + "after \(node.lastDelivered) s")
            #expect(node.refused > 0, "\(during)")
            for node in ["n1", "n3"] { #expect(during.nodes[node]?.refused == 0, "\(during)") }
        }
    }
}
