// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushNet
import PushPostgres
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// The counts that nodes exchange through a real PostgreSQL.
@Suite(.needsPostgres) struct NodeCountsTests {
    private func counts(of node: TestNode) throws -> AdminAPI.Counts {
        guard case .counts(let counts) = try node.succeed(.allDevices(.counts)) else {
            throw MissingReply(what: "counts")
        }
        return counts
    }

    /// Waits until the counters of a node are in PostgreSQL.
    private func waitForWrite(_ accepted: Int, by node: String, _ postgres: PostgresFixture) async throws {
        try await eventually("\(node) has written its counters") {
            try await postgres.sql(
                "SELECT convert_from(counts, 'UTF8')::jsonb ->> 'accepted' FROM nodes WHERE name = '\(node)'"
            ) == "\(accepted)"
        }
    }

    private let age = "UPDATE nodes SET seen_at = clock_timestamp() - interval '1 hour' WHERE name = "

    @Test func `the status of each node has the events of all nodes, and its metrics have its own`() async throws {
        let postgres = try await PostgresFixture()
        let first = try TestNode(postgres, name: "first", isOneOfSeveral: true)
        let device = try first.registeredDevice()
        let second = try TestNode(postgres, name: "second", isOneOfSeveral: true)
        for _ in 0..<2 { #expect(try first.send("x", to: device.contents) == nil) }
        let stream = try second.attach(device)
        #expect(try second.received(2, on: stream).count == 2)
        let answer = second.submit("y", to: device.contents)
        let delivered = try second.received(1, on: stream)
        second.acknowledge(delivered, by: device, .shown)
        #expect(try second.answer(to: answer) == nil)
        for node in [first, second] {
            try await eventually("the counts include both nodes") {
                let counts = try counts(of: node)
                return counts.accepted == 3 && counts.outcomes["shown"] == 1
            }
            #expect(try counts(of: node).includesAllNodes == true)
        }
        #expect(first.store.metrics[.accepted] == 2 && second.store.metrics[.accepted] == 1)
        #expect(first.store.metrics.count(of: .shown) == 0 && second.store.metrics.count(of: .shown) == 1)
    }

    @Test func `the events before a stop stay in the total`() async throws {
        let postgres = try await PostgresFixture()
        let stopping = try TestNode(postgres, countsMilliseconds: 3_600_000)
        let device = try stopping.registeredDevice()
        for _ in 0..<3 { #expect(try stopping.send("x", to: device.contents) == nil) }
        // The counters that it writes at its end are the only ones.
        stopping.store.stop()
        try await waitForWrite(3, by: "test", postgres)
        let node = try TestNode(postgres)
        #expect(try counts(of: node).accepted == 3)
        #expect(try node.send("x", to: device.contents) == nil)
        #expect(try counts(of: node).accepted == 4 && node.store.metrics[.accepted] == 1)
        try await waitForWrite(1, by: "test", postgres)
        #expect(try counts(of: node).accepted == 4)
    }

    @Test func `the events of a removed node stay in the total, also when its number is taken again`() async throws {
        let postgres = try await PostgresFixture()
        let removed = try TestNode(postgres, name: "removed", isOneOfSeveral: true)
        let device = try removed.registeredDevice()
        for _ in 0..<2 { #expect(try removed.send("x", to: device.contents) == nil) }
        let node = try TestNode(postgres, name: "node", isOneOfSeveral: true)
        try await waitForWrite(2, by: "removed", postgres)
        let refused = try node.perform(.cluster(.change(.remove(node: "removed"))))
        #expect(throws: StoreRefusal.nodeIsLive) { try refused.get() }
        #expect(try counts(of: node).accepted == 2)
        removed.store.stop()
        _ = try await postgres.sql(age + "'removed'")
        try node.succeed(.cluster(.change(.remove(node: "removed"))))
        #expect(try counts(of: node).accepted == 2)
        let third = try TestNode(postgres, name: "third", isOneOfSeveral: true)
        #expect(try await postgres.sql("SELECT number FROM nodes WHERE name = 'third'") == "0")
        #expect(try third.send("x", to: device.contents) == nil)
        #expect(try counts(of: third).accepted == 3)
        try await waitForWrite(1, by: "third", postgres)
        #expect(try counts(of: third).accepted == 3 && counts(of: node).accepted == 3)
    }

    @Test func `an instance whose number another one has taken writes no counters`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        #expect(try node.send("x", to: device.contents) == nil)
        _ = try await postgres.sql("UPDATE nodes SET instance = instance + 4194304, counts = NULL")
        try await eventually("the node ends") { !node.replies.fatal.isEmpty }
        node.store.stop()
        #expect(try await postgres.sql("SELECT counts IS NULL FROM nodes") == "t")
    }

    @Test func `a counter of a newer version is ignored and kept`() async throws {
        let postgres = try await PostgresFixture()
        let newer = try TestNode(postgres, name: "newer")
        newer.store.stop()
        _ = try await postgres.sql("UPDATE nodes SET counts = convert_to('{\"accepted\":5,\"unheard_of\":6}', 'UTF8')")
        _ = try await postgres.sql(age + "'newer'")
        let node = try TestNode(postgres, name: "node")
        #expect(try counts(of: node).accepted == 5)
        try node.succeed(.cluster(.change(.remove(node: "newer"))))
        #expect(try counts(of: node).accepted == 5)
        #expect(try await postgres.sql("SELECT value FROM state WHERE name = 'count:unheard_of'") == "6")
    }

    @Test func `without PostgreSQL, the number of standbys is not known`() async throws {
        let server = try await PostgresServer()
        let node = try TestNode(address: server.address, schema: "posthorn")
        let shard = try #require(node.store.metrics.cluster?.shards.first)
        #expect(shard.synchronousStandbys.value == -1)
        try await eventually("the number is read") { shard.synchronousStandbys.value == 0 }
        try await server.stop()
        try await eventually("the number is not known") { shard.synchronousStandbys.value == -1 }
        #expect(shard.connected.value == 0)
    }

    @Test func `requests that wait for a worker are counted`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        _ = try node.registeredDevice()
        let settings = PostgresSettings(applicationName: "test", schema: postgres.schema)
        let connection = try PostgresConnection(to: try PostgresAddress(postgres.address), settings: settings)
        try connection.execute("BEGIN")
        try connection.execute("LOCK TABLE topics")
        let addresses = (0..<3).map { _ in node.address() }
        var commands = addresses.map { StoreCommand.perform(.control(.app(topic: TestNode.topic)), answer: $0) }
        node.store.submit(&commands)
        // One request is under way, the others wait.
        try await eventually("the requests are counted") { node.store.metrics[.waitingRequests] >= 2 }
        try connection.execute("COMMIT")
        try await eventually("no request waits") { node.store.metrics[.waitingRequests] == 0 }
    }

    @Test func `the gauges of apps, devices, sizes and standbys are read, and commits are measured`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let metrics = node.store.metrics
        let device = try node.registeredDevice(1)
        _ = try node.registeredDevice(2)
        #expect(try node.send("waits", to: device.contents) == nil)
        try await eventually("the gauges are published") {
            metrics[.apps] == 1 && metrics[.devices] == 2 && metrics[.registrations] == 2 && metrics[.pending] == 1
        }
        #expect(metrics[.byteCount] > 0)
        let shard = try #require(metrics.cluster?.shards.first)
        #expect(shard.synchronousStandbys.value == 0)
        #expect(shard.batchRows.counts.reduce(0, +) == 1 && shard.batchRows.sum == 1)
        #expect(metrics.busyNanoseconds(now: .now) > 0)
        var (commits, writes) = (DurationHistogram.Snapshot(), DurationHistogram.Snapshot())
        commits.add(metrics.commit)
        writes.add(shard.commit)
        // Heartbeats are batches too.
        #expect(commits.counts.reduce(0, +) > 1 && writes.counts.reduce(0, +) == 1)
    }
}
