// SPDX-License-Identifier: Apache-2.0

import PushSQL
import TestSupport
import Testing

@testable import PushPostgres

/// The actions that errors of PostgreSQL require.
struct PostgresAdviceTests {
    @Test(.needsPostgres) func `the advice for a failed connection fits its cause`() async throws {
        let server = try await PostgresServer(usesTLS: true)
        let rules = [
            "local all all trust", "hostssl all scram 127.0.0.1/32 scram-sha-256",
            "hostssl all postgres,reader,absent 127.0.0.1/32 trust",
        ]
        _ = try await server.sql(
            """
            CREATE ROLE scram LOGIN PASSWORD 'right'; CREATE ROLE other LOGIN;
            CREATE ROLE reader LOGIN; ALTER ROLE reader SET default_transaction_read_only = on;
            COPY (VALUES \(rules.map { "('\($0)')" }.joined(separator: ","))) TO '\(server.data)/pg_hba.conf'
            """)
        try await server.stop()
        try await server.start()
        func check(_ old: String, _ new: String, _ advice: String) throws {
            let address = try PostgresAddress(server.address.replacing(old, with: new))
            let error = #expect(throws: SQLError.self) {
                try PostgresConnection(to: address, settings: .test(schema: "public"))
            }
            #expect(error?.advice?.hasPrefix(advice) == true, "\(String(describing: error))")
            #expect(error?.message.contains("disable") == false)
        }
        try check("postgres@", "scram@", "Set PGPASSWORD")
        try check("postgres@", "scram:wrong@", "Check PGPASSWORD")
        try check("postgres@", "other@", "Allow this host in pg_hba.conf")
        try check("postgres@", "absent@", "Create the role")
        try check("postgres@", "reader@", "No reachable server is a primary")
        try check("/postgres?", "/absent?", "Create the database")
        try check("@localhost", "@127.0.0.1", "Write a host name of the certificate")
        try check("@localhost", "@absent.invalid", "Check the host names")
        try check("server/server.crt", "absent.crt", "Add sslrootcert=FILE")
        try check("&sslrootcert=\(server.data)/server.crt", "", "Add sslrootcert=FILE")
        _ = try PostgresConnection(to: PostgresAddress(server.address), settings: .test(schema: "public"))
    }

    @Test(.needsPostgres) func `the advice for a failed statement fits its cause`() async throws {
        let fixture = try await PostgresFixture()
        let connection = try fixture.connect()
        try connection.execute("PREPARE s0 AS SELECT 1; PREPARE s1 AS SELECT 1; PREPARE s2 AS SELECT 1")
        let pooled = #expect(throws: SQLError.self) {
            for text: StaticString in ["SELECT 1", "SELECT 2", "SELECT 3"] { _ = try connection.prepare(text).step() }
        }
        #expect(pooled?.advice?.contains("connection pool") == true, "\(String(describing: pooled))")
        _ = try await fixture.sql("CREATE ROLE \(fixture.schema) LOGIN")
        try connection.execute(text: "SET ROLE \(fixture.schema)")
        let denied = #expect(throws: SQLError.self) { try connection.execute("CREATE SCHEMA denied") }
        #expect(denied?.advice?.hasPrefix("Make the role the owner") == true, "\(String(describing: denied))")
        try connection.execute(text: "RESET ROLE; DROP ROLE \(fixture.schema)")
    }

    @Test func `the advice of libpq to stop the verification of certificates is left out`() throws {
        let advices = [
            "Either provide the file or change sslmode to disable server certificate verification.",
            "Either provide the file, use the system's trusted roots with sslrootcert=system, or change sslmode to disable "
                + "server certificate verification.",
        ]
        let problem = "could not get home directory to locate root certificate file"
        let message = advices.map { "\(problem) \($0)" }.joined(separator: " ")
        let error = SQLError.unreachable(message, try PostgresAddress("postgresql://u@h/d?sslmode=disable"))
        #expect(error.message == "\(problem) \(problem)")
        #expect(error.advice?.hasPrefix("Add sslrootcert=FILE") == true)
    }

    @Test func `a message and its action are two sentences`() throws {
        let address = try PostgresAddress("postgresql://u@h/d?sslmode=disable")
        let advice = "Check the address, and that the server runs."
        for message in ["refused", "refused."] {
            #expect(SQLError.unreachable(message, address).messageWithAdvice == "refused. \(advice)")
        }
        #expect(SQLError.unreachable("refused?", address).messageWithAdvice == "refused? \(advice)")
    }
}
