// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// One node on a real PostgreSQL.
@Suite(.needsPostgres) struct PostgresStoreTests {
    @Test func `a connected device gets a notification, and its acknowledgement accepts it without a row`() async throws
    {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let stream = try node.attach(device)
        let answer = node.submit("hello", to: device.contents)
        let received = try node.received(1, on: stream)
        #expect(received.map(\.text) == ["hello"])
        node.acknowledge(received, by: device)
        #expect(try node.answer(to: answer) == nil)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "0")
    }

    // While numbers are ahead of the clock, a node exceeds its ceiling between two heartbeats, and may be killed then.
    @Test func `after a restart, numbers are above all that the node may have made since its last heartbeat`()
        async throws
    {
        let postgres = try await PostgresFixture()
        do { _ = try TestNode(postgres) }
        let ceiling = Int64(1) << 61
        _ = try await postgres.sql("UPDATE nodes SET id_ceiling = \(ceiling), seen_at = seen_at - interval '1 minute'")
        let node = try TestNode(postgres)
        let instance = try await postgres.sql("SELECT instance FROM nodes")
        #expect(try #require(Int64(instance)) > ceiling + 100_000)
        withExtendedLifetime(node) {}
    }

    // Nodes keep links to 100 others, so further ones would only learn through PostgreSQL what is urgent.
    @Test func `a node does not start beside a hundred others, and does when one of them has stopped for a minute`()
        async throws
    {
        let postgres = try await PostgresFixture()
        do { _ = try TestNode(postgres, isOneOfSeveral: true) }
        _ = try await postgres.sql(
            """
            INSERT INTO nodes(number, name, instance, seen_at, id_ceiling, speaks, version, draining, address)
            SELECT n, 'other-' || n, n, now(), 0, 1, '1', 0, '127.0.0.1:1' FROM generate_series(1, 100) AS n
            """)
        let error = #expect(throws: PostgresStoreError.self) { try TestNode(postgres, isOneOfSeveral: true) }
        #expect(error?.exitStatus == 78 && error?.description.contains("already has 100 nodes") == true)
        _ = try await postgres.sql("UPDATE nodes SET seen_at = now() - interval '61 seconds' WHERE number < 2")
        _ = try TestNode(postgres, isOneOfSeveral: true)
    }

    @Test func `a notification for a device that is away is written, and delivered once when it connects`() async throws
    {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        for number in 1...100 { #expect(try node.send("\(number)", to: device.contents) == nil) }
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "100")
        let stream = try node.attach(device)
        var texts: [String] = []
        while texts.count < 100 {
            let received = try node.received(1, on: stream)
            texts += received.map(\.text)
            node.acknowledge(received, by: device)
        }
        #expect(texts == (1...100).map(String.init))
        try await eventually("the rows are deleted") {
            try await postgres.sql("SELECT count(*) FROM pending") == "0"
        }
    }

    @Test func `an unacknowledged notification is written after the grace, and accepted`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let stream = try node.attach(device)
        #expect(try node.send("slow", to: device.contents) == nil)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "1")
        let received = try node.received(1, on: stream)
        node.acknowledge(received, by: device)
        try await eventually("the row is deleted") { try await postgres.sql("SELECT count(*) FROM pending") == "0" }
    }

    @Test func `a damaged row is left out, deleted and reported`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        for text in ["1", "2", "3"] { #expect(try node.send(text, to: device.contents) == nil) }
        let damaged = try await postgres.sql(
            """
            UPDATE pending SET record = set_byte(record, 20, get_byte(record, 20) # 1)
            WHERE id = (SELECT id FROM pending ORDER BY id OFFSET 1 LIMIT 1) RETURNING id
            """)
        let stream = try node.attach(device)
        let received = try node.received(2, on: stream)
        #expect(received.map(\.text) == ["1", "3"])
        node.acknowledge(received, by: device)
        try await eventually("the rows are deleted") { try await postgres.sql("SELECT count(*) FROM pending") == "0" }
        #expect(node.replies.notices == [.damagedRow(sequence: try #require(Int64(damaged)))])
    }

    @Test func `a later notification with the same collapse ID replaces the one that waits`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        for text in ["1", "2", "3"] { #expect(try node.send(text, to: device.contents, collapseID: "a") == nil) }
        #expect(try node.send("other", to: device.contents, collapseID: "b") == nil)
        let stream = try node.attach(device)
        #expect(try node.received(2, on: stream).map(\.text) == ["3", "other"])
    }

    @Test func `a notification for an unknown device, an ended or an unknown registration is refused`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let contents = device.contents
        func other(device: UInt64? = nil, topic: UInt32? = nil, generation: UInt32? = nil) -> DeviceTokenContents {
            DeviceTokenContents(
                device: device.map(DeviceID.init) ?? contents.device, topic: topic.map(TopicID.init) ?? contents.topic,
                generation: generation ?? contents.generation)
        }
        for isConnected in [false, true] {
            if isConnected { _ = try node.attach(device) }
            #expect(try node.send("x", to: other(device: 99)) == .badDeviceToken)
            #expect(try node.send("x", to: other(device: .max)) == .badDeviceToken)
            #expect(try node.send("x", to: other(topic: 99)) == .unregistered)
            #expect(try node.send("x", to: other(generation: 99)) == .unregistered)
        }
        try node.succeed(.device(.unregister(topic: TestNode.topic), by: device.credential))
        #expect(try node.send("x", to: contents) == .unregistered)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "0")
    }

    @Test func `a new stream replaces the earlier one, and gets what was not acknowledged`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let first = try node.attach(device)
        let answer = node.submit("again", to: device.contents)
        #expect(try node.received(1, on: first).map(\.text) == ["again"])
        let second = try node.attach(device)
        try node.replies.first("ended") { if case .ended(.replaced, first) = $0 { () } else { nil } }
        #expect(try node.received(1, on: second).map(\.text) == ["again"])
        #expect(try node.answer(to: answer) == nil)
    }

    @Test func `a stream with a wrong secret is refused, and a removed device loses its stream`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let guess = DeviceCredential(device: device.contents.device, secretHash: [UInt8](repeating: 9, count: 32))
        let wrong = node.address()
        node.store.submit([.attach(guess, stream: wrong)])
        try node.replies.first("refused") {
            if case .performed(.failure(.unauthorized), wrong) = $0 { () } else { nil }
        }
        let stream = try node.attach(device)
        try node.succeed(.administer(device.contents.device, .remove))
        try node.replies.first("removed") { if case .ended(.removed, stream) = $0 { () } else { nil } }
        #expect(try node.send("x", to: device.contents) == .unregistered)
    }

    @Test func `a stream with a wrong secret ends no other stream of the device`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let guess = DeviceCredential(device: device.contents.device, secretHash: [UInt8](repeating: 9, count: 32))
        let stream = try node.attach(device)
        let wrong = node.address()
        node.store.submit([.attach(guess, stream: wrong)])
        try node.replies.first("refused") {
            if case .performed(.failure(.unauthorized), wrong) = $0 { () } else { nil }
        }
        let answer = node.submit("x", to: device.contents)
        node.acknowledge(try node.received(1, on: stream), by: device)
        #expect(try node.answer(to: answer) == nil)
        #expect(!node.replies.has { if case .ended = $0 { true } else { false } })
    }

    @Test func `a device counts as seen, with its agent, only after its secret was verified`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        _ = try await postgres.sql("UPDATE devices SET seen_at_ms = NULL, agent = ''")
        let guess = DeviceCredential(device: device.contents.device, secretHash: [UInt8](repeating: 9, count: 32))
        let wrong = node.address()
        node.store.submit([.attach(guess, stream: wrong, agent: "guess/1")])
        try node.replies.first("refused") {
            if case .performed(.failure(.unauthorized), wrong) = $0 { () } else { nil }
        }
        // These requests use both workers of the shard, so anything that the refused stream submitted is done first.
        for hint: UInt8 in 2...3 {
            let hash = [UInt8](repeating: hint, count: 32)
            let unknown = DeviceCredential(device: device.contents.device, secretHash: hash)
            #expect(throws: StoreRefusal.self) { try node.succeed(.device(.identify, by: unknown)) }
        }
        #expect(try await postgres.sql("SELECT seen_at_ms IS NULL, agent FROM devices") == "t|")
        let right = node.address()
        node.store.submit([.attach(device.credential, stream: right, agent: "right/1")])
        try await eventually("the device counts as seen") {
            try await postgres.sql("SELECT seen_at_ms > 0, agent FROM devices") == "t|right/1"
        }
    }

    @Test func `a stream with the right secret replaces one with a wrong secret`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let guess = DeviceCredential(device: device.contents.device, secretHash: [UInt8](repeating: 9, count: 32))
        for _ in 0..<5 {
            let (wrong, right) = (node.address(), node.address())
            node.store.submit([.attach(guess, stream: wrong), .attach(device.credential, stream: right)])
            try node.replies.first("attached") { if case .attached(_, right) = $0 { () } else { nil } }
            node.store.submit([.detach(stream: right)])
        }
    }

    @Test func `a refused topic drops its notifications at once, and a now-or-never one is never written`() async throws
    {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        #expect(try node.answer(to: node.submit("now", to: device.contents, isNowOrNever: true)) == nil)
        let stream = try node.attach(device)
        #expect(try node.answer(to: node.submit("now", to: device.contents, isNowOrNever: true)) == nil)
        #expect(try node.received(1, on: stream).map(\.text) == ["now"])
        try node.succeed(.device(.setFilter(refusedTopics: [TestNode.topic]), by: device.credential))
        #expect(try node.send("refused", to: device.contents) == nil)
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "0")
    }

    @Test func `a node that starts again keeps its number, and everything that waits`() async throws {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres)
        let device = try node?.registeredDevice()
        guard let device else { return }
        #expect(try node?.send("kept", to: device.contents) == nil)
        let first = try await postgres.sql("SELECT number, instance FROM nodes")
        node = nil
        let next = try TestNode(postgres)
        let second = try await postgres.sql("SELECT number, instance FROM nodes")
        #expect(first.hasPrefix("0|") && second.hasPrefix("0|") && first != second)
        let stream = try next.attach(device)
        #expect(try next.received(1, on: stream).map(\.text) == ["kept"])
    }

    @Test func `lost connections are opened again, and everything that waited is answered`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, name: "cut")
        let device = try node.registeredDevice()
        let stream = try node.attach(device)
        for round in 0..<3 {
            let answers = (0..<20).map { node.submit("\(round) \($0)", to: device.contents) }
            _ = try await postgres.sql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'posthornd cut'
                """)
            for answer in answers { #expect(try node.answer(to: answer) == nil) }
            var texts: Set<String> = []
            while texts.count < 20 {
                let received = try node.received(1, on: stream)
                node.acknowledge(received, by: device)
                texts.formUnion(received.map(\.text))
            }
            #expect(texts == Set((0..<20).map { "\(round) \($0)" }))
        }
    }
}
