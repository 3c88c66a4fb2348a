// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A schema of its own for one test, in the PostgreSQL server that all tests of the process share.
///
/// The server is started by the first test that needs it, and stops when the process ends.
package struct PostgresFixture: Sendable {
    /// The address for `PostgresAddress`.
    package let address: String
    /// The name of the schema, which exists and is empty.
    package let schema: String
    private let server: PostgresServer

    /// Whether the package `postgresql-15` is installed.
    package static var isInstalled: Bool { (try? PostgresKeeper.programs()) != nil }

    /// Creates the schema.
    ///
    /// - Throws: `MissingProgram` without the package `postgresql-15`.
    package init() async throws {
        server = try await Self.shared.value
        address = server.address
        schema = "test_\(UUID().uuidString.lowercased().prefix(18).filter { $0 != "-" })"
        _ = try await server.sql("CREATE SCHEMA \(schema)")
    }

    /// Runs SQL with `psql` as the database's superuser, and returns its output.
    package func sql(_ text: String) async throws -> String {
        try await server.sql("SET search_path = \(schema); \(text)")
    }

    /// Creates another database with the same empty schema, which lives as long as the server.
    package func shard() async throws -> PostgresShardFixture {
        let database = "shard_\(UUID().uuidString.lowercased().prefix(18).filter { $0 != "-" })"
        _ = try await server.sql("CREATE DATABASE \(database)")
        _ = try await server.sql("CREATE SCHEMA \(schema)", database: database)
        return PostgresShardFixture(server: server, database: database, schema: schema)
    }

    private static let shared = Task { try await PostgresServer() }
}

/// The database of another shard for one test.
package struct PostgresShardFixture: Sendable {
    fileprivate let server: PostgresServer
    fileprivate let database: String
    fileprivate let schema: String

    /// The address for `PostgresAddress`.
    package var address: String { server.address(database: database) }

    /// Runs SQL with `psql` as the database's superuser, and returns its output.
    package func sql(_ text: String) async throws -> String {
        try await server.sql("SET search_path = \(schema); \(text)", database: database)
    }
}
