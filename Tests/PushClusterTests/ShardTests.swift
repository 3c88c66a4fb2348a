// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// Nodes whose devices are in two databases.
@Suite(.needsPostgres) struct ShardTests {
    /// The first device of shard 0, and the first one of shard 1.
    private static let devices: [UInt64] = [1, 512 << 53 + 1]

    private let postgres: PostgresFixture
    private let shard: PostgresShardFixture

    init() async throws {
        postgres = try await PostgresFixture()
        shard = try await postgres.shard()
    }

    @Test func `each device and its notifications are in the database of its slot`() async throws {
        let node = try TestNode(postgres, shards: [shard])
        for number in Self.devices {
            let device = try node.registeredDevice(number)
            #expect(try node.send("for \(number)", to: device.contents) == nil)
        }
        #expect(try await postgres.sql("SELECT id FROM devices") == "\(Self.devices[0])")
        #expect(try await shard.sql("SELECT id FROM devices") == "\(Self.devices[1])")
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "1")
        #expect(try await shard.sql("SELECT count(*) FROM pending") == "1")
        #expect(try await shard.sql("SELECT count(*) FROM topics") == "0")
    }

    @Test(arguments: [512 << 53 + 1, 512 << 53 + 7] as [UInt64])
    func `a device whose code was used, but which was not written to its database, is enrolled by the next attempt`(
        device: UInt64
    ) async throws {
        let node = try TestNode(postgres, shards: [shard])
        let hash = [UInt8](repeating: 7, count: 32)
        try node.succeed(.control(.addEnrolmentCode(hash: hash, expiresAt: Timestamp(unixSeconds: 4_000_000_000))))
        func enrol(_ device: UInt64, _ requestHash: [UInt8]) throws -> Result<StoreAnswer, StoreRefusal> {
            try node.perform(
                .enrol(
                    .init(
                        codeHash: hash, device: DeviceID(rawValue: device), secretHash: { _ in requestHash },
                        name: "test",
                        platform: "linux", requestHash: requestHash)))
        }
        guard case .success(.enrolled(let first)) = try enrol(Self.devices[1], hash) else {
            throw MissingReply(what: "a device")
        }
        // A conflict in the second database after the commit in the first one leaves this state.
        _ = try await shard.sql("DELETE FROM devices")
        guard case .success(.enrolled(first)) = try enrol(device, hash) else { throw MissingReply(what: "the device") }
        #expect(try await shard.sql("SELECT id FROM devices") == "\(first.rawValue)")
        let another = try enrol(512 << 53 + 8, [UInt8](repeating: 8, count: 32))
        guard case .failure(.badEnrolmentCode) = another else { throw MissingReply(what: "a refusal") }
    }

    @Test func `devices of both databases receive what waited and what comes later`() throws {
        let node = try TestNode(postgres, shards: [shard])
        for number in Self.devices {
            let device = try node.registeredDevice(number)
            #expect(try node.send("first", to: device.contents) == nil)
            let stream = try node.attach(device)
            var received = try node.received(1, on: stream)
            node.acknowledge(received, by: device)
            let answer = node.submit("second", to: device.contents)
            received += try node.received(1, on: stream)
            node.acknowledge([received[1]], by: device)
            #expect(try node.answer(to: answer) == nil)
            #expect(received.map(\.text) == ["first", "second"])
        }
    }

    @Test func `lists and counts are those of all databases`() throws {
        let node = try TestNode(postgres, shards: [shard])
        var devices: [TestDevice] = []
        for number in [Self.devices[1], Self.devices[0], Self.devices[1] + 1] {
            devices.append(try node.registeredDevice(number))
            #expect(try node.send("text", to: devices[devices.count - 1].contents) == nil)
        }
        guard case .devices(let all, let next) = try node.succeed(.allDevices(.list())) else {
            throw MissingReply(what: "another answer")
        }
        #expect(all.map(\.deviceID) == devices.map { $0.contents.device.text } && next == nil)
        #expect(all.map(\.topics) == Array(repeating: [TestNode.topic], count: 3))
        #expect(all.map(\.pendingCount) == [1, 1, 1])
        var (listed, last): ([String], DeviceID?) = ([], nil)
        repeat {
            let answer = try node.succeed(.allDevices(.list(after: last, countMax: 1)))
            guard case .devices(let page, let next) = answer else { throw MissingReply(what: "another answer") }
            listed += page.map(\.deviceID)
            last = next
        } while last != nil
        #expect(listed == all.map(\.deviceID))
        guard case .app(let app) = try node.succeed(.control(.app(topic: TestNode.topic))) else {
            throw MissingReply(what: "another answer")
        }
        #expect(app.registrationCount == 3 && app.pendingCount == 3)
        guard case .counts(let counts) = try node.succeed(.allDevices(.counts)) else {
            throw MissingReply(what: "another answer")
        }
        #expect(counts.apps == 1 && counts.devices == 3 && counts.registrations == 3 && counts.pending == 3)
        let topic = devices[0].contents.topic
        let everyone = try node.succeed(.allDevices(.recipients(topic, countMax: 2)))
        guard case .recipients(let some, let isComplete) = everyone else { throw MissingReply(what: "another answer") }
        #expect(some.count == 2 && !isComplete)
        let named = try node.succeed(
            .allDevices(.recipients(topic, devices: devices.map(\.contents.device), countMax: 10)))
        guard case .recipients(let found, true) = named else { throw MissingReply(what: "another answer") }
        #expect(Set(found.map(\.contents.device)) == Set(devices.map(\.contents.device)))
    }

    @Test func `a removed app and a removed channel leave nothing in any database`() async throws {
        let node = try TestNode(postgres, shards: [shard])
        for number in Self.devices { _ = try node.registeredDevice(number) }
        let device = try node.registeredDevice(Self.devices[1] + 1)
        let channel = try node.createChannel(.mostRecentMessageStored)
        try node.subscribe(device, to: channel)
        #expect(try await shard.sql("SELECT count(*) FROM subscriptions") == "1")
        try node.succeed(
            .control(.removeChannel(channel, topic: TestNode.topic, environment: .production)))
        #expect(try await shard.sql("SELECT count(*) FROM subscriptions") == "0")
        try node.succeed(.control(.removeApp(topic: TestNode.topic)))
        #expect(try await postgres.sql("SELECT count(*) FROM registrations WHERE live = 1") == "0")
        #expect(try await shard.sql("SELECT count(*) FROM registrations WHERE live = 1") == "0")
    }

    @Test(arguments: [1, 512 << 53 + 1] as [UInt64])
    func `a sweep of each database removes what a removed app and channel left`(number: UInt64) async throws {
        do {
            let node = try TestNode(postgres, shards: [shard])
            let device = try node.registeredDevice(number)
            try node.subscribe(device, to: try node.createChannel(.mostRecentMessageStored))
        }
        // Like a node that was killed after the removal in shard 0, or a move that copied the rows after the removal.
        _ = try await postgres.sql("DELETE FROM channels; UPDATE topics SET removed_at_ms = 1")
        for sql in [postgres.sql, shard.sql] { _ = try await sql("DELETE FROM state WHERE name = 'swept_at_ms'") }
        let node = try TestNode(postgres, shards: [shard])
        for sql in [postgres.sql, shard.sql] {
            try await eventually("the rows are removed") {
                let live = try await sql("SELECT count(*) FROM registrations WHERE live = 1")
                let subscriptions = try await sql("SELECT count(*) FROM subscriptions")
                return (live, subscriptions) == ("0", "0")
            }
        }
        withExtendedLifetime(node) {}
    }

    @Test func `a stored broadcast reaches devices of both databases, and is acknowledged there`() async throws {
        let node = try TestNode(postgres, shards: [shard])
        let devices = try Self.devices.map { try node.registeredDevice($0) }
        let channel = try node.createChannel(.mostRecentMessageStored)
        for device in devices { try node.subscribe(device, to: channel) }
        #expect(try node.publish("to all", to: channel, of: devices[0].contents.topic) == nil)
        for device in devices {
            let stream = try node.attach(device)
            let received = try node.received(1, on: stream)
            #expect(received.map(\.text) == ["to all"])
            node.acknowledge(received, by: device)
        }
        for sql in [postgres.sql, shard.sql] {
            try await eventually("the acknowledgement is written") {
                try await sql("SELECT count(*) FROM subscriptions WHERE since > 0") == "1"
            }
        }
    }

    @Test func `a device without an ID in its secret is found in any database`() throws {
        let node = try TestNode(postgres, shards: [shard])
        let device = try node.registeredDevice(Self.devices[1])
        let credential = DeviceCredential(device: nil, secretHash: device.credential.secretHash)
        guard case .identified(device.contents.device) = try node.succeed(.device(.identify, by: credential)) else {
            throw MissingReply(what: "another answer")
        }
        let stream = try node.attach(TestDevice(credential: credential, contents: device.contents))
        #expect(try node.send("text", to: device.contents) == nil)
        #expect(try node.received(1, on: stream).map(\.text) == ["text"])
    }

    @Test func `a database of another shard or cluster is refused`() async throws {
        do { _ = try TestNode(postgres, shards: [shard]) }
        let other = try await postgres.shard()
        let error = #expect(throws: PostgresStoreError.self) { _ = try TestNode(postgres, shards: [other]) }
        guard case .wrongShard(1)? = error else { throw MissingReply(what: "a refusal of shard 1") }
    }

    @Test func `an empty database does not take the place of one that has slots`() async throws {
        let empty = try await postgres.shard()
        do { _ = try TestNode(postgres, isOneOfSeveral: true) }
        // Without slots, another database may still become the shard.
        do { _ = try TestNode(postgres, shards: [empty]) }
        do {
            let node = try TestNode(postgres, shards: [shard])
            try node.succeed(.cluster(.moveSlots(to: 1, count: 1)))
        }
        for other in [empty, try await postgres.shard()] {
            let error = #expect(throws: PostgresStoreError.self) { _ = try TestNode(postgres, shards: [other]) }
            guard case .wrongShard(1)? = error else { throw MissingReply(what: "a refusal of shard 1") }
        }
        do { _ = try TestNode(postgres, shards: [shard]) }
    }

    @Test func `a node that hung while devices moved ends when it has another database for their shard`() async throws {
        let empty = try await postgres.shard()
        do { _ = try TestNode(postgres, isOneOfSeveral: true) }
        let hung = try TestNode(postgres, name: "hung", isOneOfSeveral: true, shards: [empty])
        let node = try TestNode(postgres, name: "other", isOneOfSeveral: true, shards: [shard])
        #expect(throws: StoreRefusal.shardNotEverywhere) { try node.succeed(.cluster(.moveSlots(to: 1, count: 1))) }
        // The move of a node that knew the hung node in both databases.
        let number = try await postgres.sql("SELECT value FROM state WHERE name = 'database_of_shard_1'")
        #expect(try await shard.sql("SELECT value FROM state WHERE name = 'database'") == number)
        _ = try await postgres.sql(
            "UPDATE slots SET shard = 1 WHERE slot = 1000; UPDATE control SET version = version + 1")
        try await eventually("the node ends") { !hung.replies.fatal.isEmpty }
        #expect(hung.replies.fatal.map(\.exitStatus) == [78])
        let text = hung.replies.fatal.map { "\($0)" }.joined()
        #expect(text.contains("The database of shard 1 is not the one that the cluster uses."))
        #expect(node.replies.fatal.isEmpty)
    }

    @Test func `an enrolment that two nodes perform at the same time makes one device`() async throws {
        let nodes = try (0..<2).map { try TestNode(postgres, name: "\($0)", isOneOfSeveral: true, shards: [shard]) }
        for round in 0..<20 as Range<UInt8> {
            let hash = [UInt8](repeating: round, count: 32)
            try nodes[0].succeed(
                .control(.addEnrolmentCode(hash: hash, expiresAt: Timestamp(unixSeconds: 4_000_000_000))))
            let requests = zip(nodes, Self.devices).map { node, device in
                let id = DeviceID(rawValue: device + UInt64(round))
                let enrolment = StoreRequest.NewDevice(
                    codeHash: hash, device: id, secretHash: { _ in hash }, name: "test", platform: "linux",
                    requestHash: hash)
                let address = node.address()
                node.store.submit([.perform(.enrol(enrolment), answer: address)])
                return (node, address)
            }
            for (node, address) in requests {
                _ = try node.replies.first("an answer") { if case .performed(_, address) = $0 { true } else { nil } }
            }
            let count = "SELECT count(*) FROM devices"
            let counts = try [await postgres.sql(count), await shard.sql(count)].compactMap { Int($0) }
            #expect(counts.reduce(0, +) == Int(round) + 1)
        }
    }

    @Test func `the database of another cluster does not become a shard, even without devices`() async throws {
        // A database that was prepared for a cluster without a start of a node has secrets and no devices.
        do { _ = try TestNode(address: shard.address, schema: postgres.schema) }
        _ = try await shard.sql(
            "DELETE FROM state WHERE name IN ('cluster', 'shard'); INSERT INTO secrets VALUES ('name', '')")
        let error = #expect(throws: PostgresStoreError.self) { _ = try TestNode(postgres, shards: [shard]) }
        guard case .wrongShard(1)? = error else { throw MissingReply(what: "a refusal of shard 1") }
    }

    @Test func `a request does not use a database that takes the place of a shard`() async throws {
        let node = try TestNode(postgres, shards: [shard])
        let device = try node.registeredDevice(Self.devices[1])
        _ = try await shard.sql("UPDATE state SET value = value + 1 WHERE name = 'database'")
        let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        _ = try? await shard.sql("\(others) AND datname = current_database()")
        guard case .failure(.unavailable(let text)) = try node.perform(.device(.identify, by: device.credential)) else {
            throw MissingReply(what: "a refusal")
        }
        #expect(text.contains("did not perform"))
    }

    @Test func `a node does not start without a database that has devices`() async throws {
        do { _ = try TestNode(postgres, shards: [shard]) }
        let error = #expect(throws: PostgresStoreError.self) { _ = try TestNode(postgres) }
        guard case .missingShard(1)? = error else { throw MissingReply(what: "a refusal without shard 1") }
    }
}
