// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PushCluster
@testable import PushPostgres

/// The plans of statements, which PostgreSQL may make while tables are empty, and keep while the tables grow.
@Suite(.needsPostgres) struct HotStatementTests {
    private static let statements: [HotStatement] = [
        .changes, .depart, .delete, .acknowledge, .skip, .attach, .hosts, .rows, .registrations, .subscriptions,
        .histories,
        .replaced, .write, .look, .explain,
    ]

    private static func name(of kind: PostgresParameters.Kind) -> String {
        switch kind {
        case .int64: "bigint"
        case .int64Array: "bigint[]"
        case .bytesArray: "bytea[]"
        default: "bytea"
        }
    }

    @Test(arguments: statements) func `rows are found by their keys, even if the plan is made for an empty table`(
        statement: HotStatement
    ) async throws {
        let postgres = try await PostgresFixture()
        _ = try TestNode(postgres)
        // The last rows keep the pages, so that PostgreSQL sees large and almost empty tables.
        _ = try await postgres.sql(
            """
            CREATE TEMPORARY TABLE g AS SELECT generate_series(1, 2000) AS n;
            INSERT INTO devices(id, name, platform, enrolled_at_ms) SELECT n, '', '', 0 FROM g;
            INSERT INTO registrations(device, topic, generation, live, refused, registered_at_ms)
                SELECT n, 1, 1, 1, 0, 0 FROM g;
            INSERT INTO subscriptions(device, topic, channel, since) SELECT n, 1, 1, 0 FROM g;
            INSERT INTO delivery_histories SELECT n, '\\x00' FROM g;
            INSERT INTO hosts(device, instance, epoch) SELECT n, 1, 1 FROM g;
            INSERT INTO pending SELECT n, n, n, 1, NULL, '\\x00' FROM g;
            INSERT INTO changes(device, at_ms) SELECT n, 0 FROM g; DELETE FROM changes WHERE device < 2000;
            DELETE FROM pending WHERE device < 2000; DELETE FROM hosts WHERE device < 2000;
            DELETE FROM delivery_histories WHERE device < 2000; DELETE FROM subscriptions WHERE device < 2000;
            DELETE FROM registrations WHERE device < 2000; DELETE FROM devices WHERE id < 2000;
            ANALYZE changes, pending, hosts, delivery_histories, subscriptions, registrations, devices
            """)
        var settings = PostgresSettings(applicationName: "test", schema: postgres.schema)
        settings.findsRowsByKey = true
        let types = statement.prepared.parameters.map(Self.name)
        let values = types.map { $0.hasSuffix("[]") ? "'{}'" : "1" }
        let plan = try await postgres.sql(
            """
            \(settings.script);
            PREPARE tested(\(types.joined(separator: ", "))) AS \(statement.prepared.sql);
            EXPLAIN EXECUTE tested(\(values.joined(separator: ", ")))
            """)
        #expect(!plan.contains("Hash Join") && !plan.contains("Merge Join"), "\(plan)")
        // A scan of an index without a condition reads the whole table too. The tables of nodes are always small.
        let lines = plan.split(separator: "\n").filter { !$0.contains(/Scan (using nodes_pkey )?on nodes/) }
        #expect(!lines.contains { $0.contains("Seq Scan") }, "\(plan)")
        for (line, next) in zip(lines, lines.dropFirst()) where line.contains("Index Scan using") {
            #expect(next.contains("Index Cond"), "\(plan)")
        }
    }

    @Test func `a heartbeat reads only the changes of transactions that had not ended at the last one`() async throws {
        let postgres = try await PostgresFixture()
        _ = try TestNode(postgres)
        _ = try await postgres.sql("INSERT INTO changes(device, at_ms) SELECT generate_series(1, 1000), 0")
        // Transactions of other tests may be under way.
        try await eventually("earlier changes are not read") {
            let last = try await postgres.sql("SELECT pg_snapshot_xmin(pg_current_snapshot())")
            let statement = "\(HotStatement.changes.prepared.sql)".replacing("$1", with: last)
            guard try await postgres.sql("SELECT count(*) FROM (\(statement)) AS c") == "0" else { return false }
            _ = try await postgres.sql("INSERT INTO changes(device, at_ms) VALUES (1001, 0)")
            return try await postgres.sql("SELECT device FROM (\(statement)) AS c") == "1001"
        }
    }
}
