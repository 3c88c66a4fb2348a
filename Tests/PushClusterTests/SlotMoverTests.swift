// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushPostgres
import PushSQL
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// Steps of moves that a node makes too late, for example because its process was stopped.
@Suite(.needsPostgres) struct SlotMoverTests {
    private let postgres: PostgresFixture
    private let shard: PostgresShardFixture

    /// Creates two databases with a device of slot 1023 in shard 0, for which a notification waits.
    init() async throws {
        postgres = try await PostgresFixture()
        shard = try await postgres.shard()
        do { _ = try TestNode(postgres, isOneOfSeveral: true) }
        let node = try TestNode(postgres, shards: [shard])
        #expect(try node.send("waits", to: node.registeredDevice(1023 << 53 + 1).contents) == nil)
    }

    private func mover(_ instance: Int64) throws -> SlotMover { try Self.mover(instance, postgres, shard) }

    /// Cleans until the task is cancelled.
    ///
    /// The nodes of other tests, on the same server, may have the lock for it, and a statement that waits for long fails.
    private static func clean(_ postgres: PostgresFixture, _ shard: PostgresShardFixture) async {
        while !Task.isCancelled {
            _ = try? mover(2, postgres, shard).perform(.clean, changed: {})
            await Task.yield()
        }
    }

    private static func mover(
        _ instance: Int64, _ postgres: PostgresFixture, _ shard: PostgresShardFixture
    ) throws -> SlotMover {
        var configuration = PostgresStoreConfiguration(
            address: try PostgresAddress(postgres.address), node: "mover", version: "1",
            store: StoreConfiguration(path: "") { .now })
        configuration.schema = postgres.schema
        configuration.furtherShards = [try PostgresAddress(shard.address)]
        let connections = ShardConnections(
            configuration, InstanceID(rawValue: instance), StoreBounds(configuration.store), Lock(SlotMap(rows: [])),
            ShardDatabases(numbers: [nil, nil]), patientShards: 0..<2, waitEnd: { .future })
        return SlotMover(connections: connections, instance: InstanceID(rawValue: instance))
    }

    /// Marks slot 1023; returns the next step, in which a node copies its devices.
    private func begin(_ mover: SlotMover) throws -> SlotMover.Step {
        guard case .next(let step) = try mover.perform(.begin(to: 1, count: 1), changed: {}) else {
            throw MissingReply(what: "a step")
        }
        return step
    }

    /// Expects that a step refuses, and that shard 0 still has the device and its notification.
    private func expectRefusal(of step: SlotMover.Step, by mover: SlotMover) async throws {
        guard case .refused(.moveEnded) = try mover.perform(step, changed: {}) else {
            throw MissingReply(what: "a refusal")
        }
        #expect(try await postgres.sql("SELECT shard, moving_to FROM slots WHERE slot = 1023") == "0|")
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "1")
        #expect(try await postgres.sql("SELECT count(*) FROM moved_slots") == "0")
    }

    @Test func `a copy after the move was cancelled changes nothing`() async throws {
        let mover = try mover(1)
        let copy = try begin(mover)
        guard case .done = try mover.perform(.finish, changed: {}) else { throw MissingReply(what: "the end") }
        try await expectRefusal(of: copy, by: mover)
        #expect(try await shard.sql("SELECT count(*) FROM devices") == "0")
    }

    @Test func `a copy after a later move to the same shard changes nothing there`() async throws {
        let mover = try mover(1)
        let copy = try begin(mover)
        _ = try await shard.sql("INSERT INTO state VALUES ('received_move', 99)")
        try await expectRefusal(of: copy, by: mover)
        #expect(try await shard.sql("SELECT count(*) FROM devices") == "0")
    }

    @Test func `a step of an earlier move does not touch the slots of a later one`() async throws {
        let (late, other) = (try mover(1), try mover(2))
        let copy = try begin(late)
        _ = try late.perform(.finish, changed: {})
        let otherCopy = try begin(other)
        guard case .refused(.moveEnded) = try late.perform(copy, changed: {}) else {
            throw MissingReply(what: "a refusal")
        }
        guard case .done = try other.perform(otherCopy, changed: {}) else { throw MissingReply(what: "the end") }
        #expect(try await postgres.sql("SELECT shard FROM slots WHERE slot = 1023") == "1")
        #expect(try await postgres.sql("SELECT slot FROM moved_slots") == "1023")
        #expect(try await shard.sql("SELECT count(*) FROM pending") == "1")
    }

    @Test func `slots that move back are served again`() async throws {
        let mover = try mover(1)
        guard case .done = try mover.perform(try begin(mover), changed: {}) else { throw MissingReply(what: "the end") }
        _ = try await postgres.sql("UPDATE slots SET former = NULL")
        guard case .next(let copy) = try mover.perform(.begin(to: 0, count: 1), changed: {}),
            case .done = try mover.perform(copy, changed: {})
        else { throw MissingReply(what: "the end") }
        #expect(try await postgres.sql("SELECT count(*) FROM moved_slots") == "0")
        #expect(try await shard.sql("SELECT slot FROM moved_slots") == "1023")
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "1")
    }

    /// Opens two connections to shard 0.
    @Test func `a cancelled move leaves no rows in the new shard`() async throws {
        let mover = try mover(1)
        let copy = try begin(mover)
        // Like a node that was killed after the commit in the new shard.
        let (old, new) = (try mover.connections.connection(toShard: 0), try mover.connections.connection(toShard: 1))
        #expect(try SlotRows(connection: old, range: SlotRange(slots: 1023...1023)).copy(to: new) > 1)
        guard case .done = try mover.perform(.finish, changed: {}) else { throw MissingReply(what: "the end") }
        #expect(try await shard.sql("SELECT count(*) FROM devices") == "0")
        #expect(try await shard.sql("SELECT count(*) FROM pending") == "0")
        try await expectRefusal(of: copy, by: mover)
        // A later move brings them.
        let next = try begin(mover)
        guard case .done = try mover.perform(next, changed: {}) else { throw MissingReply(what: "the end") }
        #expect(try await shard.sql("SELECT count(*) FROM pending") == "1")
    }

    @Test func `a node that hung does not delete devices that have moved back meanwhile`() async throws {
        let mover = try mover(1)
        guard case .done = try mover.perform(try begin(mover), changed: {}) else { throw MissingReply(what: "the end") }
        _ = try await postgres.sql("UPDATE slots SET moved_at_ms = 0 WHERE slot = 1023")
        let (blocking, _) = try connections()
        try blocking.execute("BEGIN; LOCK TABLE moved_slots IN ACCESS EXCLUSIVE MODE")
        let cleaning = Task.detached { [postgres, shard] in
            await Self.clean(postgres, shard)
        }
        defer { cleaning.cancel() }
        try await eventually("the cleaning node waits") {
            try await postgres.sql(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'moved_slots'::regclass")
                == "1"
        }
        // Another node has cleaned the slot, and the slot has moved back.
        _ = try await postgres.sql("UPDATE slots SET former = NULL, moved_at_ms = NULL, shard = 0 WHERE slot = 1023")
        try blocking.execute("DELETE FROM moved_slots; COMMIT")
        cleaning.cancel()
        await cleaning.value
        #expect(try await postgres.sql("SELECT count(*) FROM devices") == "1")
    }

    private func connections() throws -> (PostgresConnection, PostgresConnection) {
        let address = try PostgresAddress(postgres.address)
        var settings = PostgresSettings(applicationName: "test", schema: postgres.schema)
        settings.statementTimeout = .seconds(60)
        return (
            try PostgresConnection(to: address, settings: settings),
            try PostgresConnection(to: address, settings: settings)
        )
    }

    @Test func `a move that one node completes and another cancels at the same time is cancelled`() async throws {
        let (copying, cancelling) = try connections()
        let error = #expect(throws: SQLError.self) {
            try copying.transaction { () throws(SQLError) in
                guard try SlotMoveDecision(on: copying).isOpen(7) else { return }
                _ = try SlotMoveDecision(on: cancelling).decide(7)
                try SlotMoveDecision(on: copying).complete(7, [1023])
            }
        }
        #expect(error?.kind == .conflict)
        #expect(try !SlotMoveDecision(on: copying).isOpen(7))
        #expect(try !SlotMoveDecision(on: copying).decide(7))
        #expect(try await postgres.sql("SELECT count(*) FROM moved_slots") == "0")
    }

    @Test func `a complete move is not cancelled`() throws {
        let (copying, cancelling) = try connections()
        try copying.transaction { () throws(SQLError) in try SlotMoveDecision(on: copying).complete(7, [1023]) }
        #expect(try SlotMoveDecision(on: cancelling).decide(7))
    }
}
