// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushNet
import PushStore
import TestSupport
import Testing

@testable import PushCluster

@Suite(.needsPostgres) struct ClusterStatusTests {
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
        let shard = cluster.shards[0]
        #expect(shard.server?.hasSuffix(":5432") == true && shard.waitingCount == 0 && shard.writtenPerMinute == 0)
        #expect(shard.commitP50Milliseconds == nil && shard.commitP99Milliseconds == nil)
    }

    @Test func `the status has what waits, and what the node wrote`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        for text in ["a", "b"] { #expect(try node.send(text, to: device.contents) == nil) }
        let shard = try status(of: node).shards[0]
        #expect(shard.waitingCount == 2 && shard.writtenPerMinute == 2)
        let median = try #require(shard.commitP50Milliseconds)
        #expect(try median > 0 && median <= #require(shard.commitP99Milliseconds))
    }

    @Test func `a slot and a transaction that keep rows are in the status and in the metrics`() async throws {
        let server = try await PostgresServer(configuration: ["wal_level = logical"])
        let node = try TestNode(address: server.address, schema: "posthorn")
        _ = try node.attach(try node.registeredDevice())
        let metrics = try #require(node.store.metrics.cluster)
        try await eventually("the problems are counted") { metrics.count(of: .noSynchronousStandby) == 1 }
        #expect(metrics.count(of: .tooFewNodes) == 1 && metrics.count(of: .oldSlot) == 0)
        #expect(metrics.count(of: .noTLS) == 0 && metrics.count(of: .notConnected) == 0)
        _ = try await server.sql("SELECT pg_create_logical_replication_slot('left_behind', 'pgoutput')")
        let transaction = try await server.openTransaction()
        let problem = try #require(try status(of: node).problems.first { $0.code == "old-slot" })
        #expect(problem.text.hasPrefix("The replication slot left_behind of PostgreSQL keeps "))
        try await eventually("both are in the metrics") {
            metrics.count(of: .oldSlot) == 1 && metrics.shards[0].oldestTransactionSeconds.value > 0
        }
        transaction.endInput()
        _ = try await server.sql("SELECT pg_drop_replication_slot('left_behind')")
        try await eventually("both are over") {
            metrics.count(of: .oldSlot) == 0 && metrics.shards[0].oldestTransactionSeconds.value == 0
        }
        try await server.stop()
        try await eventually("the lost connection is a problem, and nothing else is known") {
            metrics.count(of: .notConnected) == 1 && metrics.count(of: .noSynchronousStandby) == 0
                && metrics.shards[0].oldestTransactionSeconds.value == -1
        }
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
