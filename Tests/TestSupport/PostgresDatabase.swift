// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A database of its own for one server of a test, in a PostgreSQL server that all tests of the process share.
package struct PostgresDatabase: Sendable {
    /// The address for the setting `url`.
    package let address: String
    private let name: String
    private let server: PostgresServer

    /// Creates an empty database.
    ///
    /// - Throws: `MissingProgram` without the package `postgresql-15`.
    package init() async throws {
        server = try await Self.shared.value
        name = "test_\(UUID().uuidString.lowercased().filter { $0 != "-" }.prefix(16))"
        _ = try await server.sql("CREATE DATABASE \(name)")
        address = server.address(database: name)
    }

    /// Runs SQL with `psql` as the database's superuser, and returns its output.
    package func sql(_ text: String) async throws -> String { try await server.sql(text, database: name) }

    private static let shared = Task { try await PostgresServer() }
}
