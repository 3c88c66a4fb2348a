// SPDX-License-Identifier: Apache-2.0

import PushPostgres
import PushSQL
import TestSupport

extension PostgresSettings {
    /// Settings for a schema, with timeouts that a busy machine does not reach.
    static func test(schema: String) -> PostgresSettings {
        var settings = PostgresSettings(applicationName: "posthorn-test", schema: schema)
        settings.statementTimeout = .seconds(60)
        settings.answerTimeout = .seconds(120)
        return settings
    }
}

extension PostgresFixture {
    /// Opens a connection with the schema.
    func connect(_ change: (inout PostgresSettings) -> Void = { _ in }) throws -> PostgresConnection {
        var settings = PostgresSettings.test(schema: schema)
        change(&settings)
        return try PostgresConnection(to: PostgresAddress(address), settings: settings)
    }
}

extension PostgresConnection {
    /// Returns the number in the first column of the first row.
    func number(_ sql: StaticString) throws(SQLError) -> Int64? {
        let statement = try prepare(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalInt64(0) : nil
    }

    /// Returns the text in the first column of the first row.
    func text(_ sql: StaticString) throws(SQLError) -> String? {
        let statement = try prepare(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.optionalString(0) : nil
    }
}
