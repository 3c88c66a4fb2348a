// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

@Suite(.needsPostgres) struct DrainTests {
    private func drain(_ node: TestNode, name: String = "test", _ isDraining: Bool = true) throws {
        try node.succeed(.cluster(.change(.setDraining(node: name, isDraining))))
    }

    private func draining(of node: TestNode) throws -> ClusterAPI.Node.Draining? {
        guard case .cluster(let cluster) = try node.succeed(.cluster(.status)) else { return nil }
        return cluster.nodes.first?.draining
    }

    private func waitUntilDrained(_ node: TestNode) async throws {
        try await eventually("the node is drained") { try draining(of: node) == .drained }
    }

    /// Opens a stream; returns false if the node refuses it because it is drained.
    private func isAttached(_ device: TestDevice, to node: TestNode) throws -> Bool {
        while true {
            let stream = node.address()
            node.store.submit([.attach(device.credential, stream: stream)])
            let result = try node.replies.first("attached or refused") { reply -> Bool?? in
                switch reply {
                case .attached(_, stream): true
                // The stream was opened in the same turn in which the node noticed that it is drained.
                case .performed(.failure(.draining), stream), .ended(.shutdown, stream): false
                case .performed(.failure(.unavailable), stream): .some(nil)
                default: nil
                }
            }
            if let result { return result }
        }
    }

    @Test func `a drained node has no streams and refuses new ones, but accepts notifications`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let stream = try node.attach(device)
        try drain(node)
        try node.replies.first("a goodbye") { if case .ended(.shutdown, stream) = $0 { () } else { nil } }
        try await waitUntilDrained(node)
        #expect(try !isAttached(device, to: node))
        #expect(try node.send("waits", to: device.contents) == nil)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "1")
        #expect(try draining(of: node) == .drained)
        try drain(node, false)
        try await eventually("the node takes devices") { try draining(of: node) == .no }
        #expect(try node.received(1, on: try node.attach(device)).map(\.text) == ["waits"])
    }

    @Test func `a notification that was sent on an ended stream is written and accepted`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let devices = try (1...20).map { try node.registeredDevice($0) }
        let streams = try devices.map { try node.attach($0) }
        try drain(node)
        let answers = devices.flatMap { device in (0..<5).map { node.submit("\($0)", to: device.contents) } }
        for answer in answers { #expect(try node.answer(to: answer) == nil) }
        for stream in streams {
            try node.replies.first("a goodbye") { if case .ended(.shutdown, stream) = $0 { () } else { nil } }
        }
        try await waitUntilDrained(node)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "100")
        #expect(try await postgres.sql("SELECT count(*) FROM hosts WHERE instance <> 0") == "0")
    }

    @Test func `a node that starts again stays drained, unless it has another version`() async throws {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres)
        let device = try #require(try node?.registeredDevice())
        try drain(try #require(node))
        try await waitUntilDrained(try #require(node))
        node = nil
        let same = try TestNode(postgres)
        try await eventually("the node refuses devices") { try !isAttached(device, to: same) }
        same.store.stop()
        let upgraded = try TestNode(postgres, version: "2")
        #expect(try isAttached(device, to: upgraded))
    }

    @Test func `the name of no node is refused`() async throws {
        let node = try TestNode(try await PostgresFixture())
        #expect(try node.perform(.cluster(.change(.setDraining(node: "other", true)))).failure == .unknownNode)
    }

    @Test func `a dead node is removed and its number is used again, and a live one is refused`() async throws {
        let postgres = try await PostgresFixture()
        let dead = try TestNode(postgres, name: "dead")
        let device = try dead.registeredDevice()
        _ = try dead.attach(device)
        dead.store.stop()
        let age = "UPDATE nodes SET seen_at = clock_timestamp() - interval '1 hour' WHERE name = "
        _ = try await postgres.sql(age + "'dead'")
        let node = try TestNode(postgres, name: "second")
        #expect(try node.perform(.cluster(.change(.remove(node: "second")))).failure == .nodeIsLive)
        try node.succeed(.cluster(.change(.remove(node: "dead"))))
        #expect(try await postgres.sql("SELECT number, name FROM nodes") == "1|second")
        #expect(try node.send("accepted", to: device.contents) == nil)
        #expect(try node.perform(.cluster(.change(.remove(node: "dead")))).failure == .unknownNode)
        node.store.stop()
        _ = try await postgres.sql(age + "'second'")
        let third = try TestNode(postgres, name: "third")
        #expect(try await postgres.sql("SELECT number FROM nodes WHERE name = 'third'") == "0")
        #expect(try third.received(1, on: try third.attach(device)).map(\.text) == ["accepted"])
    }

    @Test func `a node whose row was removed ends`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        _ = try node.attach(try node.registeredDevice())
        _ = try await postgres.sql("DELETE FROM nodes")
        try await eventually("the node ends") { !node.replies.fatal.isEmpty }
    }

    @Test func `a stopping node first writes what it was asked to`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let stream = try node.attach(device)
        let answer = node.submit("last", to: device.contents)
        _ = try node.received(1, on: stream)
        node.store.submit([.detach(stream: stream)])
        node.store.stop()
        #expect(try node.answer(to: answer) == nil)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "1")
        #expect(try await postgres.sql("SELECT count(*) FROM hosts WHERE instance <> 0") == "0")
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
