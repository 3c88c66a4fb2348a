// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PushCluster
@testable import PushPostgres

/// The plans of statements on the table `pending`, which PostgreSQL may make while the table is empty.
struct HotStatementTests {
    private static let statements: [HotStatement] = [.delete, .acknowledge, .rows, .replaced, .write]

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
        // The last row keeps the pages, so that PostgreSQL sees a large and almost empty table.
        _ = try await postgres.sql(
            """
            INSERT INTO pending SELECT g, g, g, 1, NULL, '\\x00' FROM generate_series(1, 2000) g;
            DELETE FROM pending WHERE device < 2000
            """)
        _ = try await postgres.sql("ANALYZE pending")
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
        #expect(!plan.contains("Seq Scan") && !plan.contains("Hash Join") && !plan.contains("Merge Join"), "\(plan)")
        // A scan of the index without a condition reads the whole table too.
        let lines = plan.split(separator: "\n")
        for (line, next) in zip(lines, lines.dropFirst()) where line.contains("Scan using pending_pkey") {
            #expect(next.contains("Index Cond"), "\(plan)")
        }
    }
}
