// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// Moves of slots from one database to another.
@Suite(.needsPostgres) struct SlotMoveTests {
    private let postgres: PostgresFixture
    private let shard: PostgresShardFixture

    init() async throws {
        postgres = try await PostgresFixture()
        shard = try await postgres.shard()
        // All devices are in shard 0 when the second database is added.
        let node = try TestNode(postgres, isOneOfSeveral: true)
        withExtendedLifetime(node) {}
    }

    /// A device of the slot that moves first.
    private static func id(_ number: UInt64) -> UInt64 { 1023 << 53 + number }

    @Test func `devices move with their registrations and with what waits for them`() async throws {
        let node = try TestNode(postgres, shards: [shard])
        let (moved, other) = (try node.registeredDevice(Self.id(1)), try node.registeredDevice(2))
        try node.subscribe(moved, to: try node.createChannel(.mostRecentMessageStored))
        for device in [moved, other] { #expect(try node.send("waits", to: device.contents) == nil) }
        try node.succeed(.cluster(.moveSlots(to: 1, count: 20)))
        #expect(try await postgres.sql("SELECT count(*), max(former) FROM slots WHERE shard = 1") == "20|0")
        #expect(try await postgres.sql("SELECT device FROM pending") == "2")
        for table in [
            "devices WHERE id", "registrations WHERE device", "subscriptions WHERE device", "pending WHERE device",
        ] {
            #expect(try await shard.sql("SELECT count(*) FROM \(table) = \(Self.id(1))") == "1")
        }
        #expect(try node.send("later", to: moved.contents) == nil)
        let stream = try node.attach(moved)
        #expect(try node.received(2, on: stream).map(\.text) == ["waits", "later"])
        // The former database has the row of the device for a minute.
        #expect(try await postgres.sql("SELECT count(*) FROM devices") == "2")
        guard case .devices(let all, nil) = try node.succeed(.allDevices(.list())) else {
            throw MissingReply(what: "the devices")
        }
        #expect(all.count == 2)
        guard case .counts(let counts) = try node.succeed(.allDevices(.counts)),
            case .app(let app) = try node.succeed(.control(.app(topic: TestNode.topic)))
        else { throw MissingReply(what: "the counts") }
        #expect(counts.devices == 2 && counts.registrations == 2 && app.registrationCount == 2)
    }

    @Test func `a connected device is sent away, and notifications wait for the end of the move`() throws {
        let node = try TestNode(postgres, shards: [shard])
        let device = try node.registeredDevice(Self.id(1))
        let stream = try node.attach(device)
        var answers = [node.submit("unacknowledged", to: device.contents)]
        _ = try node.received(1, on: stream)
        let move = node.address()
        node.store.submit([.perform(.cluster(.moveSlots(to: 1, count: 1)), answer: move)])
        answers.append(node.submit("during the move", to: device.contents))
        let end = try node.replies.first("the end of the stream") { reply -> StreamEnd? in
            if case .ended(let end, stream) = reply { end } else { nil }
        }
        #expect(end == .shutdown)
        for answer in answers { #expect(try node.answer(to: answer) == nil) }
        let next = try node.attach(device)
        #expect(try node.received(2, on: next).map(\.text) == ["unacknowledged", "during the move"])
    }

    @Test func `a move during another one is refused, and the first move completes`() async throws {
        let node = try TestNode(postgres, shards: [shard])
        let moves = [node.address(), node.address()]
        node.store.submit(moves.map { .perform(.cluster(.moveSlots(to: 1, count: 40)), answer: $0) })
        let refused = try node.replies.first("the refusal") { reply -> StoreRefusal? in
            if case .performed(.failure(let refusal), moves[1]) = reply { refusal } else { nil }
        }
        #expect(refused == .slotsAreMoving)
        try node.replies.first("the end of the move") { reply -> Void? in
            if case .performed(.success(.done), moves[0]) = reply { () } else { nil }
        }
        #expect(try await postgres.sql("SELECT count(*) FROM slots WHERE shard = 1") == "40")
    }

    @Test(arguments: ["moving_to = 1", "former = 1, moved_at_ms = 4000000000000"])
    func `a node does not start without the database to which slots move, or from which they moved`(
        change: String
    ) async throws {
        _ = try await postgres.sql("UPDATE slots SET \(change) WHERE slot = 7")
        let error = #expect(throws: PostgresStoreError.self) { _ = try TestNode(postgres) }
        guard case .missingShard(1)? = error else { throw MissingReply(what: "a refusal without shard 1") }
    }

    @Test func `two nodes agree, and one that has no link finds the move by its heartbeat`() throws {
        let first = try TestNode(postgres, name: "one", isOneOfSeveral: true, shards: [shard])
        let second = try TestNode(postgres, name: "two", isOneOfSeveral: true, shards: [shard])
        let device = try first.registeredDevice(Self.id(1))
        let stream = try second.attach(device)
        try first.succeed(.cluster(.moveSlots(to: 1, count: 1)))
        _ = try second.replies.first("the end of the stream") { if case .ended(_, stream) = $0 { true } else { nil } }
        #expect(try second.send("by the second node", to: device.contents) == nil)
        let next = try first.attach(device)
        #expect(try first.received(1, on: next).map(\.text) == ["by the second node"])
    }

    @Test(arguments: [false, true])
    func `a move whose node stopped is ended by another one`(isCopied: Bool) async throws {
        let device: TestDevice
        do {
            let node = try TestNode(postgres, shards: [shard])
            device = try node.registeredDevice(Self.id(1))
            #expect(try node.send("waits", to: device.contents) == nil)
            if isCopied { try node.succeed(.cluster(.moveSlots(to: 1, count: 1))) }
        }
        // Like a node that stopped after the copy, or before it.
        _ = try await postgres.sql(
            isCopied
                ? "UPDATE slots SET shard = former, former = NULL, moving_to = 1 WHERE shard = 1"
                : """
                INSERT INTO state VALUES ('slot_move', 7), ('slot_mover', 1);
                UPDATE slots SET moving_to = 1 WHERE slot = 1023
                """)
        let node = try TestNode(postgres, shards: [shard])
        let stream = try node.attach(device)
        #expect(try node.received(1, on: stream).map(\.text) == ["waits"])
        #expect(try await postgres.sql("SELECT count(*) FROM slots WHERE moving_to IS NOT NULL") == "0")
        #expect(try await postgres.sql("SELECT shard FROM slots WHERE slot = 1023") == (isCopied ? "1" : "0"))
    }

    @Test func `what was written late to the former database is moved, and the rest is deleted`() async throws {
        let node = try TestNode(postgres, shards: [shard])
        let device = try node.registeredDevice(Self.id(1))
        #expect(try node.send("copied", to: device.contents) == nil)
        let row = try await postgres.sql("SELECT id, record FROM pending").split(separator: "|")
        try node.succeed(.cluster(.moveSlots(to: 1, count: 1)))
        // Like a node that hung during the move.
        let late = try #require(Int64(row[0])) + 1
        _ = try await postgres.sql(
            "INSERT INTO pending VALUES (\(Self.id(1)), \(late), \(late), 1, NULL, '\(row[1])')")
        try await eventually("the notification is moved") {
            try await shard.sql("SELECT count(*) FROM pending") == "2"
        }
        _ = try await postgres.sql("UPDATE slots SET moved_at_ms = 1 WHERE former IS NOT NULL")
        try await eventually("the rows are deleted") {
            try await postgres.sql("SELECT count(*) FROM devices") == "0"
        }
        #expect(try await postgres.sql("SELECT count(*) FROM slots WHERE former IS NOT NULL") == "0")
        #expect(try await shard.sql("SELECT count(*) FROM devices") == "1")
    }

    // MARK: A node that knows only the earlier assignment

    /// Restores the former assignment in the table `slots`, which a node reads when it starts.
    ///
    /// The move of slot 1023 to shard 1 has ended long ago, so shard 0 has no rows of its devices any more.
    private func forgetMove() async throws {
        _ = try await postgres.sql("UPDATE slots SET moved_at_ms = 1 WHERE former IS NOT NULL")
        try await eventually("the rows are deleted") {
            try await postgres.sql("SELECT count(*) FROM devices") == "0"
        }
        _ = try await postgres.sql("UPDATE slots SET shard = 0 WHERE slot = 1023")
    }

    @Test func `a node that does not know of a move changes nothing, and sends its devices elsewhere`() async throws {
        let device: TestDevice
        do {
            let node = try TestNode(postgres, shards: [shard])
            device = try node.registeredDevice(Self.id(1))
            try node.succeed(.cluster(.moveSlots(to: 1, count: 1)))
            try await forgetMove()
        }
        let node = try TestNode(postgres, shards: [shard])
        #expect(throws: StoreRefusal.busy) { try node.succeed(.administer(device.contents.device, .remove)) }
        #expect(throws: StoreRefusal.busy) {
            try node.succeed(.device(.register(topic: TestNode.topic), by: device.credential))
        }
        let stream = node.address()
        node.store.submit([.attach(device.credential, stream: stream)])
        let end = try node.replies.first("the end of the stream") { reply -> StreamEnd? in
            if case .ended(let end, stream) = reply { end } else { nil }
        }
        #expect(end == .shutdown)
        // The notification waits until the node knows the move. It is not refused as one for an unknown token.
        let answer = node.submit("waits", to: device.contents)
        _ = try await postgres.sql(
            "UPDATE slots SET shard = 1 WHERE slot = 1023; UPDATE control SET version = version + 1")
        #expect(try node.answer(to: answer) == nil)
        let next = try node.attach(device)
        #expect(try node.received(1, on: next).map(\.text) == ["waits"])
    }

    @Test func `wrong moves are refused`() throws {
        let other = try TestNode(postgres, name: "other", isOneOfSeveral: true)
        let node = try TestNode(postgres, isOneOfSeveral: true, shards: [shard])
        #expect(throws: StoreRefusal.shardNotEverywhere) { try node.succeed(.cluster(.moveSlots(to: 1, count: 1))) }
        withExtendedLifetime(other) {}
        #expect(throws: StoreRefusal.unknownShard) { try node.succeed(.cluster(.moveSlots(to: 2, count: 1))) }
        try node.succeed(.cluster(.finishUpgrade))
    }

    @Test func `slots are taken from the largest shard, and joined to ranges`() {
        let free = [0: [1, 2, 3, 4], 1: [7, 8], 2: [9]]
        #expect(SlotRange.choose(for: 2, countMax: 4, from: free) == [4, 3, 2, 8])
        #expect(SlotRange.choose(for: 2, countMax: 9, from: free).count == 6)
        #expect(SlotRange.ranges(of: [4, 1, 2, 9]).map(\.slots) == [1...2, 4...4, 9...9])
        #expect(SlotRange(slots: 0...0).devices == 0...(1 << 53 - 1))
        #expect(SlotRange(slots: 1022...1023).devices.upperBound == .max)
    }
}
