// SPDX-License-Identifier: Apache-2.0

import PushPostgres
import PushSQL
@testable import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite(.needsPostgres) struct PostgresSchemaTests {
    private let fixture: PostgresFixture

    init() async throws { fixture = try await PostgresFixture() }

    private func open(_ connection: PostgresConnection) throws {
        try PostgresSchema.open(connection, at: "db1") { (body) throws(SQLError) in try connection.transaction(body) }
    }

    @Test func `nodes that start at the same time create the tables once`() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { try open(try fixture.connect()) } }
            try await group.waitForAll()
        }
        try open(try fixture.connect())
        #expect(try await fixture.sql("SELECT version FROM control") == "0")
        #expect(try await fixture.sql("SELECT value FROM state") == "1")
    }

    @Test(arguments: [("UPDATE state SET value = 2", 2), ("DELETE FROM state", 0)])
    func `tables of an unknown version are refused with both versions`(change: String, found: Int) async throws {
        let connection = try fixture.connect()
        try open(connection)
        _ = try await fixture.sql(change)
        #expect(throws: StoreError.newerSchema(path: "db1", found: found, known: 1)) { try open(connection) }
        // The lock is free again.
        _ = try await fixture.sql(
            "UPDATE state SET value = 1; INSERT INTO state VALUES ('schema_version', 1) ON CONFLICT DO NOTHING")
        try open(try fixture.connect())
    }

    @Test func `tables of a later version can be used during an upgrade, until it is finished`() async throws {
        try open(try fixture.connect())
        _ = try await fixture.sql("UPDATE state SET value = 2; INSERT INTO state VALUES ('least_version', 1)")
        try open(try fixture.connect())
        for (found, least) in [(0, 1), (-1, 1), (1, 2)] {
            _ = try await fixture.sql(
                "UPDATE state SET value = CASE name WHEN 'least_version' THEN \(least) ELSE \(found) END")
            #expect(throws: StoreError.newerSchema(path: "db1", found: found, known: 1)) {
                try open(try fixture.connect())
            }
        }
        _ = try await fixture.sql("UPDATE state SET value = 2")
        let error = StoreError.newerSchema(path: "db1", found: 2, known: 1)
        #expect(throws: error) { try open(try fixture.connect()) }
    }

    @Test func `a failed creation leaves nothing behind`() async throws {
        _ = try await fixture.sql("CREATE TABLE secrets(x bigint)")
        let error = #expect(throws: StoreError.self) { try open(try fixture.connect()) }
        guard case .failed("db1", "42P07", _)? = error else {
            throw MissingReply(what: "a failure, not \(error as Any)")
        }
        #expect(
            try await fixture.sql("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()") == "1")
    }

    @Test func `the columns of tables that both engines have are the same`() async throws {
        try open(try fixture.connect())
        let sqlite = try Self.columnsInSQLite()
        #expect(sqlite.count > 15)
        for (table, columns) in sqlite {
            let found = try await fixture.sql(
                """
                SELECT string_agg(column_name, ',' ORDER BY ordinal_position) FROM information_schema.columns
                WHERE table_schema = current_schema() AND table_name = '\(table)'
                """)
            // Each node has rows of its own, which a last column tells apart.
            let expected = table == "quota_uses" ? columns + ",node" : columns
            #expect(found == expected, "\(table)")
        }
    }

    /// Returns the names of the columns of the tables that both engines have, separated by commas.
    private static func columnsInSQLite() throws -> [String: String] {
        let database = try Connection(inMemory: "test")
        try Schema.migrations.apply(to: database)
        let select = try database.prepare(
            """
            SELECT tables.name, group_concat(columns.name) FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' GROUP BY tables.name
            """)
        var found: [String: String] = [:]
        while try select.step() { found[select.string(0)] = select.string(1) }
        for table in ["pending", "archived", "archived_counts", "trace"] { found[table] = nil }
        return found
    }
}
