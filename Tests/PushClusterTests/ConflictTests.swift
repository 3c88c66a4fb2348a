// SPDX-License-Identifier: Apache-2.0

import PushPostgres
import PushSQL
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// Transactions that PostgreSQL refuses to commit because of concurrent ones.
@Suite(.needsPostgres) struct ConflictTests {
    /// Opens two connections to a table with one row.
    private func connections() async throws -> (PostgresFixture, PostgresConnection, PostgresConnection) {
        let postgres = try await PostgresFixture()
        var settings = PostgresSettings(applicationName: "posthorn-test", schema: postgres.schema)
        settings.statementTimeout = .seconds(60)
        settings.answerTimeout = .seconds(120)
        let address = try PostgresAddress(postgres.address)
        let first = try PostgresConnection(to: address, settings: settings)
        try first.execute("CREATE TABLE row(count bigint NOT NULL)")
        try first.execute("INSERT INTO row VALUES (0)")
        return (postgres, first, try PostgresConnection(to: address, settings: settings))
    }

    /// Increases the row in a repeated transaction, whose first attempts conflict with another connection.
    private func increase(
        _ connection: PostgresConnection, conflictingTimes conflictCount: Int, with other: PostgresConnection
    ) throws(SQLError) -> Int {
        var attemptCount = 0
        return try connection.repeatedTransaction { () throws(SQLError) in
            attemptCount += 1
            // The transaction sees the row as it was at its first statement.
            try connection.execute("SELECT * FROM row")
            if attemptCount <= conflictCount { try other.execute("UPDATE row SET count = count + 10") }
            try connection.execute("UPDATE row SET count = count + 1")
            return attemptCount
        }
    }

    @Test func `a transaction that conflicts runs again, and takes effect once`() async throws {
        let (postgres, connection, other) = try await connections()
        #expect(try increase(connection, conflictingTimes: 2, with: other) == 3)
        #expect(try await postgres.sql("SELECT count FROM row") == "21")
    }

    @Test func `a transaction that always conflicts fails after the last attempt, and has no effect`() async throws {
        let (postgres, connection, other) = try await connections()
        let error = #expect(throws: SQLError.self) { try increase(connection, conflictingTimes: .max, with: other) }
        #expect(error?.kind == .conflict)
        let count = try await postgres.sql("SELECT count FROM row")
        #expect(count == "\(10 * PostgresLimits.attemptCountMax)")
        #expect(try increase(connection, conflictingTimes: 0, with: other) == 1)
    }

    @Test func `another error is not repeated`() async throws {
        let (_, connection, _) = try await connections()
        var attemptCount = 0
        #expect(throws: SQLError.self) {
            try connection.repeatedTransaction { () throws(SQLError) in
                attemptCount += 1
                try connection.execute("SELECT * FROM absent")
            }
        }
        #expect(attemptCount == 1)
    }
}
