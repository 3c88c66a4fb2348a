// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// The hourly sweep of one node on a real PostgreSQL.
@Suite(.needsPostgres) struct SweepTests {
    private static let dueSweep =
        "UPDATE state SET value = (extract(epoch FROM clock_timestamp()) * 1000)::bigint - 3600000 "
        + "WHERE name = 'swept_at_ms'"

    @Test func `expired notifications are deleted from all pages and counted, and no other one`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        try await waitForSweep(postgres)
        #expect(try node.send("kept", to: device.contents) == nil)
        // Some 1,000 pages with three records each.
        _ = try await postgres.sql(
            """
            INSERT INTO pending SELECT 77, n, n, 1, CASE WHEN n % 10 = 0 THEN NULL ELSE 1000 END, repeat('x', 2500)::bytea
            FROM generate_series(1, 3000) AS n
            """)
        _ = try await postgres.sql(Self.dueSweep)
        try await eventually("the expired notifications are deleted") {
            try await postgres.sql("SELECT count(*) FROM pending") == "301"
        }
        try await eventually("they are counted") { node.store.metrics[.expired] == 2700 }
        let stream = try node.attach(device)
        #expect(try node.received(1, on: stream).map(\.text) == ["kept"])
    }

    @Test func `a device that was unseen for too long loses its registrations, and a connected one does not`()
        async throws
    {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres)
        let away = try #require(try node?.registeredDevice(1))
        let connected = try #require(try node?.registeredDevice(2))
        try await waitForSweep(postgres)
        node = nil
        let next = try TestNode(postgres, registrationLifeSeconds: 86_400)
        _ = try next.attach(connected)
        #expect(try next.send("waits", to: away.contents) == nil)
        _ = try await postgres.sql("UPDATE devices SET seen_at_ms = 1000")
        _ = try await postgres.sql("UPDATE state SET value = 0 WHERE name = 'reconnection_end_ms'")
        _ = try await postgres.sql(Self.dueSweep)
        try await eventually("the registration has ended") {
            try await postgres.sql("SELECT string_agg(live || '', ',' ORDER BY device) FROM registrations") == "0,1"
        }
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "0")
        #expect(try next.send("x", to: away.contents) == .expiredToken)
        #expect(try await postgres.sql("SELECT count(*) FROM devices WHERE seen_at_ms > 1000") == "1")
    }

    @Test func `no device is unseen on the day after a pause without nodes`() async throws {
        let postgres = try await PostgresFixture()
        var node: TestNode? = try TestNode(postgres)
        _ = try node?.registeredDevice()
        try await waitForSweep(postgres)
        node = nil
        _ = try await postgres.sql("UPDATE devices SET seen_at_ms = 1000")
        _ = try await postgres.sql("UPDATE state SET value = 0 WHERE name IN ('reconnection_end_ms', 'swept_at_ms')")
        let next = try TestNode(postgres, registrationLifeSeconds: 3600)
        try await waitForSweep(postgres, after: 0)
        _ = try await postgres.sql("INSERT INTO enrolment_codes VALUES ('x', 1)")
        _ = try await postgres.sql(Self.dueSweep)
        // The last step of a sweep deletes the codes.
        try await eventually("a whole sweep was made") {
            try await postgres.sql("SELECT count(*) FROM enrolment_codes") == "0"
        }
        #expect(try await postgres.sql("SELECT live FROM registrations") == "1")
        #expect(next.replies.fatal.isEmpty)
    }

    /// Waits until a sweep has begun.
    private func waitForSweep(_ postgres: PostgresFixture, after time: Int64 = -1) async throws {
        try await eventually("a sweep has begun") {
            try await postgres.sql("SELECT count(*) FROM state WHERE name = 'swept_at_ms' AND value > \(time)") == "1"
        }
    }
}
