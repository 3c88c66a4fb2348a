// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushNet
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// A node whose PostgreSQL refuses to store notifications, as with a full disk.
@Suite(.needsPostgres) struct RefusedWriteTests {
    private let postgres: PostgresFixture

    init() async throws { postgres = try await PostgresFixture() }

    /// Lets PostgreSQL refuse new rows of a table as with a full disk.
    private func fill(_ table: String) async throws {
        _ = try await postgres.sql(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON \(table) EXECUTE FUNCTION refuse()
            """)
    }

    private func free(_ table: String) async throws { _ = try await postgres.sql("DROP TRIGGER refuse ON \(table)") }

    @Test func `while no notification can be written, devices receive and acknowledge, and nothing is lost`()
        async throws
    {
        let node = try TestNode(postgres)
        let (away, present) = (try node.registeredDevice(1), try node.registeredDevice(2))
        for text in ["before", "also before"] { #expect(try node.send(text, to: present.contents) == nil) }
        try await fill("pending")
        let waiting = node.submit("waits", to: away.contents)
        try await eventually("PostgreSQL refuses it") {
            guard case .cluster(let cluster) = try node.succeed(.cluster(.status)) else { return false }
            return cluster.problems.contains { $0.text.contains("No space left on device") }
        }
        let stream = try node.attach(present)
        let earlier = try node.received(2, on: stream)
        #expect(earlier.map(\.text) == ["before", "also before"])
        node.acknowledge(earlier, by: present)
        try await eventually("their rows are deleted") { try await postgres.sql("SELECT count(*) FROM pending") == "0" }
        try await eventually("the lease is renewed") {
            try await postgres.sql("SELECT clock_timestamp() - seen_at < interval '1 second' FROM nodes") == "t"
        }
        let answer = node.submit("at once", to: present.contents)
        let received = try node.received(1, on: stream)
        node.acknowledge(received, by: present)
        #expect(try node.answer(to: answer) == nil)

        try await free("pending")
        #expect(try node.answer(to: waiting) == nil)
        let other = try node.attach(away)
        #expect(try node.received(1, on: other).map(\.text) == ["waits"])
    }

    @Test func `while no stream can be registered, the node keeps its lease, and streams open afterwards`() async throws
    {
        let node = try TestNode(postgres)
        let (present, new) = (try node.registeredDevice(1), try node.registeredDevice(2))
        let stream = try node.attach(present)
        try await fill("hosts")
        let opened = node.address()
        node.store.submit([.attach(new.credential, stream: opened)])
        let lease = node.store.metrics.cluster?.shards[0].leaseEnd
        let before = try #require(lease?.value)
        try await eventually("the lease is renewed") { lease?.value ?? 0 > before + 1_500_000_000 }
        let answer = node.submit("at once", to: present.contents)
        node.acknowledge(try node.received(1, on: stream), by: present)
        #expect(try node.answer(to: answer) == nil)
        try await free("hosts")
        try node.replies.first("attached") { if case .attached(_, opened) = $0 { true } else { nil } }
    }
}
