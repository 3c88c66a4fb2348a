// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushStore
import TestSupport
import Testing

@testable import PushCluster

struct ClusterStatusTests {
    private func status(of node: TestNode) throws -> ClusterAPI.Status {
        guard case .cluster(let cluster) = try node.succeed(.cluster(.status)) else {
            throw MissingReply(what: "the status of the cluster")
        }
        return cluster
    }

    @Test func `the status has the node, PostgreSQL, and what is missing`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, name: "alone")
        _ = try node.attach(try node.registeredDevice())
        let cluster = try status(of: node)
        #expect(cluster.node == "alone" && cluster.nodes.map(\.name) == ["alone"])
        let own = try #require(cluster.nodes.first)
        #expect(own.isLive && own.draining == .no && own.isLinkUp == nil && own.version == "1")
        #expect(try #require(own.leaseMilliseconds) > 0)
        #expect(abs(try #require(own.clockDifferenceMilliseconds)) < 2_000)
        #expect(cluster.shards.map(\.isConnected) == [true] && cluster.shards[0].isPrimary == true)
        #expect(cluster.problems.map(\.code) == ["no-synchronous-standby", "too-few-nodes"])
    }

    @Test func `a node that lost its heartbeat is shown as not live`() async throws {
        let postgres = try await PostgresFixture()
        let dead = try TestNode(postgres, name: "dead")
        dead.store.stop()
        _ = try await postgres.sql("UPDATE nodes SET seen_at = clock_timestamp() - interval '1 minute'")
        let node = try TestNode(postgres, name: "live")
        _ = try node.attach(try node.registeredDevice())
        let other = try #require(try status(of: node).nodes.first { $0.name == "dead" })
        #expect(!other.isLive && other.heartbeatAgeMilliseconds >= 60_000 && other.isLinkUp == false)
    }

    @Test func `a node without PostgreSQL still answers`() async throws {
        let server = try await PostgresServer()
        let node = try TestNode(address: server.address, schema: "posthorn")
        _ = try node.attach(try node.registeredDevice())
        try await server.stop()
        try await eventually("the connection is lost") { try !status(of: node).shards[0].isConnected }
        let cluster = try status(of: node)
        #expect(cluster.problems.first?.code == "not-connected" && cluster.shards[0].version == nil)
        #expect(cluster.nodes.map(\.name) == ["test"])
    }
}
