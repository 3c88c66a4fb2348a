// SPDX-License-Identifier: Apache-2.0

import PushPostgres
import PushSQL
import PushStore
import TestSupport
import Testing

@testable import PushCluster

@Suite(.needsPostgres) struct SlotTableTests {
    @Test func `of two nodes that start at once, one assigns all slots`() async throws {
        let fixture = try await PostgresFixture()
        let first = try Self.connect(fixture)
        try PostgresSchema.open(first, at: "test") { body throws(SQLError) in try body() }
        try first.execute("BEGIN")
        try first.assignSlots(shardCount: 2)
        let other = Task.detached { try Self.connect(fixture).assignSlots(shardCount: 1) }
        try await eventually("the other node waits for the first slot") {
            try await fixture.sql(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE application_name = '\(fixture.schema)' AND wait_event_type = 'Lock'
                """) == "1"
        }
        try first.execute("COMMIT")
        try await other.value
        let slots = try first.slots()
        #expect(slots.slotCount(of: 0) == SlotMap.slotCount / 2)
        #expect(slots.slotCount(of: 1) == SlotMap.slotCount / 2)
    }

    private static func connect(_ fixture: PostgresFixture) throws -> PostgresConnection {
        var settings = PostgresSettings(applicationName: fixture.schema, schema: fixture.schema)
        // A busy machine must not end the open transaction.
        settings.statementTimeout = .seconds(60)
        settings.answerTimeout = .seconds(120)
        return try PostgresConnection(to: PostgresAddress(fixture.address), settings: settings)
    }
}
