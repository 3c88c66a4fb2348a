// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushNet
import PushPostgres
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// A keeper with a real PostgreSQL, and with times that the tests choose.
///
/// The tests take turns, because all of them lock the secrets of the same database.
@Suite(.serialized, .needsPostgres) struct SecretKeeperTests {
    private let postgres: PostgresFixture
    private let files: TemporaryDirectory
    private let keeper: SecretKeeper
    private let connection: PostgresConnection
    private let instance = InstanceID(rawValue: 1 << 22)
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    init() async throws {
        postgres = try await PostgresFixture()
        files = try TemporaryDirectory()
        keeper = try Self.makeKeeper(postgres, files)
        connection = try PostgresConnection(
            to: try PostgresAddress(postgres.address),
            settings: PostgresSettings(applicationName: "test", schema: postgres.schema))
        try await add("self", instance, number: 0)
    }

    /// Creates the secrets; other tests wait until this returns.
    private static func makeKeeper(_ postgres: PostgresFixture, _ files: TemporaryDirectory) throws -> SecretKeeper {
        let secrets = try SharedSecrets(
            try PostgresAddress(postgres.address), schema: postgres.schema, keyFile: files.path(of: "cluster.key"))
        try secrets.add(Array((String(repeating: "a", count: 128) + "\n").utf8), "token.keys")
        try secrets.makeAuthority()
        return secrets.makeKeeper(EventLog(threshold: .error, isJournal: false))
    }

    private func add(_ name: String, _ instance: InstanceID, number: Int) async throws {
        _ = try await postgres.sql(
            """
            INSERT INTO nodes(number, name, instance, seen_at, id_ceiling, speaks, version, draining)
            VALUES (\(number), '\(name)', \(instance.rawValue), clock_timestamp(), 1, 1, '1', 0)
            """)
    }

    private func heartbeat(at seconds: Int64, version: Int64 = 0) -> Bool {
        keeper.noteHeartbeat(
            leaseMilliseconds: 3_000, controlVersion: version, at: start.advanced(bySeconds: seconds))
    }

    private func isCurrent(at seconds: Int64) -> Bool { keeper.isCurrent(at: start.advanced(bySeconds: seconds)) }

    /// Reviews the secrets; returns whether the authority changed.
    private func review() throws -> Bool { try keeper.review(on: connection, as: instance) }

    @Test func `the secrets are current from a review in a lease until the lease ends`() throws {
        #expect(!isCurrent(at: 0))
        #expect(heartbeat(at: 0))
        #expect(!isCurrent(at: 1))
        // A review is under way.
        #expect(!heartbeat(at: 1))
        #expect(try !review())
        #expect(isCurrent(at: 3) && !isCurrent(at: 4))
        #expect(!heartbeat(at: 2))
        #expect(isCurrent(at: 4))
        // The lease is over, so the node may have missed a change.
        #expect(heartbeat(at: 6))
        #expect(!isCurrent(at: 7))
        #expect(try !review())
        #expect(isCurrent(at: 7))
    }

    @Test func `a review that began before the lease ended does not count`() throws {
        #expect(heartbeat(at: 0))
        #expect(!heartbeat(at: 5))
        #expect(try !review())
        #expect(isCurrent(at: 6))
        #expect(heartbeat(at: 9))
        keeper.endReview()
        #expect(!isCurrent(at: 10))
        #expect(heartbeat(at: 10))
    }

    @Test func `another version of the control data asks for a review`() throws {
        #expect(heartbeat(at: 0))
        _ = try review()
        #expect(!heartbeat(at: 1))
        #expect(heartbeat(at: 2, version: 1))
        #expect(isCurrent(at: 3))
    }

    @Test func `a new token key is used when all live nodes have read it`() async throws {
        let other = InstanceID(rawValue: 1 << 22 | 1 << 12)
        try await add("other", other, number: 1)
        let former = keeper.tokenKeys
        let begun = try keeper.execute(.rotateTokenKey, on: connection, as: instance).result.get()
        #expect(begun.isTokenKeyWaiting && begun.behind == ["other"] && begun.tokenKeyCount == 1)
        let waiting = keeper.tokenKeys
        #expect(waiting.starts(with: former) && waiting.count == former.count * 2)
        #expect(heartbeat(at: 0, version: 1))
        // A repetition waits for the same key.
        #expect(try keeper.execute(.rotateTokenKey, on: connection, as: instance).result.get().isTokenKeyWaiting)
        #expect(keeper.tokenKeys == waiting)
        try SecretTable(connection: connection).confirm(other, version: 1, rotation: 0)
        _ = try review()
        _ = try review()
        let done = try keeper.execute(nil, on: connection, as: instance).result.get()
        #expect(!done.isTokenKeyWaiting && done.tokenKeyCount == 2)
        #expect(keeper.tokenKeys == Array(waiting.suffix(former.count)) + former)
    }

    @Test func `a node without a heartbeat does not delay a new token key`() async throws {
        try await add("other", InstanceID(rawValue: 1 << 22 | 1 << 12), number: 1)
        _ = try await postgres.sql(
            "UPDATE nodes SET seen_at = seen_at - interval '11 seconds' WHERE name = 'other'")
        _ = try keeper.execute(.rotateTokenKey, on: connection, as: instance)
        _ = try review()
        #expect(try !keeper.execute(nil, on: connection, as: instance).result.get().isTokenKeyWaiting)
    }

    @Test func `at most 16 token keys are made`() throws {
        for count in 2...16 {
            _ = try keeper.execute(.rotateTokenKey, on: connection, as: instance).result.get()
            let keys = try keeper.execute(nil, on: connection, as: instance).result.get()
            #expect(keys.tokenKeyCount == count)
        }
        let refusal = try keeper.execute(.rotateTokenKey, on: connection, as: instance).result
        #expect(throws: StoreRefusal.self) { try refusal.get() }
    }

    @Test func `a complete rotation of the cluster's key replaces the authority, too`() throws {
        let former = try #require(keeper.authority)
        _ = try keeper.execute(.beginClusterKey, on: connection, as: instance).result.get()
        let (result, hasNewAuthority) = try keeper.execute(.completeClusterKey, on: connection, as: instance)
        #expect(try !result.get().isClusterKeyWaiting)
        #expect(hasNewAuthority && keeper.authority?.certificate != former.certificate)
        #expect(keeper.key.bytes == (try ClusterKey(file: files.path(of: "cluster.key")).bytes))
    }
}
