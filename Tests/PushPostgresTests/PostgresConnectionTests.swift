// SPDX-License-Identifier: Apache-2.0

import PushSQL
import TestSupport
import Testing

@testable import PushPostgres

@Suite(.needsPostgres) struct PostgresConnectionTests {
    private let fixture: PostgresFixture

    init() async throws { fixture = try await PostgresFixture() }

    @Test(arguments: [
        ("plan_cache_mode", "force_generic_plan"), ("synchronous_commit", "on"), ("statement_timeout", "1500ms"),
        ("idle_in_transaction_session_timeout", "1500ms"), ("standard_conforming_strings", "on"),
        ("client_encoding", "UTF8"), ("application_name", "posthorn-test"),
    ])
    func `a connection sets each parameter of the session`(name: String, value: String) throws {
        let connection = try fixture.connect { $0.statementTimeout = .milliseconds(1500) }
        let statement = try connection.prepare("SELECT current_setting(?)")
        statement.bind(name, at: 1)
        #expect(try statement.step())
        #expect(statement.string(0) == value)
    }

    @Test func `tables are created in the schema of the settings`() throws {
        try fixture.connect().execute("CREATE TABLE t(x bigint)")
        let statement = try fixture.connect().prepare(
            "SELECT schemaname FROM pg_tables WHERE tablename = 't' AND schemaname = ?")
        statement.bind(fixture.schema, at: 1)
        #expect(try statement.step())
    }

    @Test func `a script runs as one transaction`() throws {
        let connection = try fixture.connect()
        try connection.execute("CREATE TABLE t(x bigint UNIQUE)")
        let error = #expect(throws: SQLError.self) {
            try connection.execute("INSERT INTO t VALUES (1); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
        }
        #expect(error?.kind == .constraint)
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `the number of changed rows is that of the last INSERT, UPDATE or DELETE`() throws {
        let connection = try fixture.connect()
        try connection.execute("CREATE TABLE t(x bigint); INSERT INTO t VALUES (1), (2), (3)")
        #expect(connection.changedRowCount == 3)
        let update = try connection.prepare("UPDATE t SET x = x + 1 WHERE x > ?")
        update.bind(1, at: 1)
        try update.run()
        #expect(connection.changedRowCount == 2)
        try connection.prepare("SELECT * FROM t").run()
        #expect(connection.changedRowCount == 2)
        try connection.prepare("DELETE FROM t WHERE x > 100").run()
        #expect(connection.changedRowCount == 0)
    }

    @Test func `an unreachable server is reported without a password`() throws {
        let address = try PostgresAddress("postgresql://u:Secret@/d?host=/nonexistent")
        let error = #expect(throws: SQLError.self) {
            try PostgresConnection(to: address, settings: .test(schema: "s"))
        }
        #expect(error?.kind == .cannotOpen)
        #expect(error?.subject == "postgresql://u@/nonexistent/d")
        #expect(error?.description.contains("Secret") == false)
    }

    // MARK: Transactions

    @Test func `a transaction that throws is rolled back`() throws {
        let connection = try fixture.connect()
        try connection.execute("CREATE TABLE t(x bigint UNIQUE)")
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(error?.kind == .constraint)
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
        try connection.transaction { () throws(SQLError) in try connection.execute("INSERT INTO t VALUES (1)") }
        #expect(try connection.number("SELECT count(*) FROM t") == 1)
    }

    @Test func `a failed commit is rolled back and leaves the connection usable`() throws {
        let connection = try fixture.connect()
        try connection.execute(
            "CREATE TABLE a(x bigint PRIMARY KEY); CREATE TABLE t(x bigint REFERENCES a DEFERRABLE INITIALLY DEFERRED)")
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in try connection.execute("INSERT INTO t VALUES (9)") }
        }
        #expect(error?.kind == .constraint)
        try connection.transaction { () throws(SQLError) in try connection.execute("INSERT INTO a VALUES (9)") }
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `an error that the closure ignores still fails the transaction`() throws {
        let connection = try fixture.connect()
        try connection.execute("CREATE TABLE t(x bigint UNIQUE)")
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in
                try connection.execute("INSERT INTO t VALUES (1)")
                try? connection.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(error?.kind == .constraint)
        let later = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in
                try? connection.execute("INSERT INTO nowhere VALUES (1)")
                try connection.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(later?.code == "42P01", "the first error is the reason")
        #expect(try connection.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `a statement that is first executed in a failed transaction works later`() throws {
        let connection = try fixture.connect()
        try connection.execute("CREATE TABLE t(x bigint UNIQUE)")
        let statement = try connection.prepare("INSERT INTO t VALUES (?)")
        statement.bind(1, at: 1)
        #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in
                try statement.run()
                try connection.execute("SELECT 1 / 0")
            }
        }
        try statement.run()
        #expect(try connection.number("SELECT count(*) FROM t") == 1)
    }

    @Test func `two transactions that depend on each other conflict`() throws {
        let (first, second) = (try fixture.connect(), try fixture.connect())
        try first.execute("CREATE TABLE t(x bigint); INSERT INTO t VALUES (1)")
        let error = #expect(throws: SQLError.self) {
            try first.transaction { () throws(SQLError) in
                _ = try first.number("SELECT sum(x)::bigint FROM t")
                try second.transaction { () throws(SQLError) in
                    _ = try second.number("SELECT sum(x)::bigint FROM t")
                    try second.execute("INSERT INTO t VALUES (2)")
                }
                try first.execute("INSERT INTO t VALUES (3)")
            }
        }
        #expect(error?.kind == .conflict)
        #expect(error?.code == "40001")
        try first.transaction { () throws(SQLError) in try first.execute("INSERT INTO t VALUES (3)") }
        #expect(try first.number("SELECT sum(x)::bigint FROM t") == 6)
    }

    @Test func `a transaction that reads committed rows does not conflict`() throws {
        let (first, second) = (try fixture.connect(), try fixture.connect())
        try first.execute("CREATE TABLE t(x bigint); INSERT INTO t VALUES (1)")
        try first.transaction(isolation: .readCommitted) { () throws(SQLError) in
            #expect(try first.number("SELECT sum(x)::bigint FROM t") == 1)
            try second.execute("INSERT INTO t VALUES (2)")
            #expect(try first.number("SELECT sum(x)::bigint FROM t") == 3)
            try first.execute("INSERT INTO t VALUES (3)")
        }
    }

    @Test func `a transaction in another one stops the process`() async {
        let (address, schema) = (fixture.address, fixture.schema)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [address = address as String, schema = schema as String] in
            let connection = try PostgresConnection(to: PostgresAddress(address), settings: .test(schema: schema))
            try connection.transaction { () throws(SQLError) in
                try connection.transaction { () throws(SQLError) in }
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("a transaction was begun inside another one"))
    }

    // MARK: Kinds of errors

    @Test(
        arguments: [
            ("SELECT 1 / 0", "22012", SQLError.Kind.refused),
            ("SELECT * FROM nowhere", "42P01", .refused),
            ("INSERT INTO limits(required) VALUES (NULL)", "23502", .constraint),
            ("INSERT INTO limits(required, small) VALUES (1, 11)", "23514", .constraint),
            ("INSERT INTO limits(required, short) VALUES (1, 'abcde')", "22001", .tooBig),
            ("BEGIN READ ONLY; INSERT INTO limits(required) VALUES (1)", "25006", .readOnly),
            ("INSERT INTO limits(required, long) VALUES (1, decode(repeat('ab', 9000), 'hex'))", "54000", .tooBig),
            ("SET statement_timeout = 20; SELECT pg_sleep(60)", "57014", .refused),
            ("SET work_mem = 'none'", "22023", .refused),
        ] as [(String, String, SQLError.Kind)])
    func `the SQLSTATE decides the kind of an error`(sql: String, state: String, kind: SQLError.Kind) throws {
        let connection = try fixture.connect()
        try connection.execute(
            """
            CREATE TABLE limits(required bigint NOT NULL, small bigint CHECK (small < 10), short varchar(3), long bytea);
            ALTER TABLE limits ALTER long SET STORAGE PLAIN
            """)
        let error = #expect(throws: SQLError.self) { try connection.execute(text: sql) }
        #expect(error?.code == state)
        #expect(error?.kind == kind)
        #expect(error?.subject == sql)
        #expect(connection.isUsable)
    }

    @Test(
        arguments: [
            ("53100", SQLError.Kind.full), ("53200", .refused), ("53300", .refused), ("40001", .conflict),
            ("40P01", .conflict),
            ("23505", .constraint), ("25006", .readOnly), ("08006", .disconnected), ("08P01", .refused),
            ("57P01", .disconnected), ("57P02", .disconnected), ("57P03", .disconnected), ("57014", .refused),
            ("58030", .inputOutput), ("XX000", .refused), ("XX001", .damaged), ("XX002", .damaged), ("55P03", .busy),
            ("54000", .tooBig), ("42601", .refused), ("", .refused),
        ] as [(String, SQLError.Kind)])
    func `each SQLSTATE has a kind`(state: String, kind: SQLError.Kind) {
        #expect(SQLError.Kind(sqlState: state) == kind)
    }

    @Test func `a lock that another transaction holds is reported as busy`() throws {
        let (first, second) = (try fixture.connect(), try fixture.connect())
        try first.execute("CREATE TABLE t(x bigint)")
        try first.transaction { () throws(SQLError) in
            try first.execute("LOCK TABLE t")
            let error = #expect(throws: SQLError.self) {
                try second.transaction { () throws(SQLError) in try second.execute("LOCK TABLE t NOWAIT") }
            }
            #expect(error?.kind == .busy)
            #expect(error?.code == "55P03")
        }
    }

    @Test func `an error with the SQLSTATE of a full disk is reported as full`() throws {
        let connection = try fixture.connect()
        let error = #expect(throws: SQLError.self) {
            try connection.execute("DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$")
        }
        #expect(error?.kind == .full)
    }

    @Test func `an error does not contain the values of rows`() throws {
        let connection = try fixture.connect()
        try connection.execute("CREATE TABLE t(x text UNIQUE); INSERT INTO t VALUES ('Secret')")
        let statement = try connection.prepare("INSERT INTO t VALUES (?)")
        statement.bind("Secret", at: 1)
        let error = #expect(throws: SQLError.self) { try statement.run() }
        #expect(error?.kind == .constraint)
        #expect(error?.description.contains("Secret") == false)
    }

    // MARK: Lost connections

    @Test func `a connection that the server ends is lost`() throws {
        let (first, second) = (try fixture.connect(), try fixture.connect())
        try first.execute("CREATE TABLE t(x bigint)")
        let terminate = try second.prepare("SELECT pg_terminate_backend(?::integer, 10000)")
        let error = #expect(throws: SQLError.self) {
            try first.transaction { () throws(SQLError) in
                try first.execute("INSERT INTO t VALUES (1)")
                terminate.bind(Int64(first.serverProcess), at: 1)
                try terminate.run()
                try first.execute("INSERT INTO t VALUES (2)")
            }
        }
        #expect(error?.kind == .disconnected)
        #expect(!first.isUsable)
        #expect(throws: SQLError.self) { try first.execute("SELECT 1") }
        #expect(try second.number("SELECT count(*) FROM t") == 0)
    }

    @Test func `a server that does not answer in time counts as lost`() throws {
        let connection = try fixture.connect { $0.answerTimeout = .milliseconds(100) }
        let error = #expect(throws: SQLError.self) { try connection.execute("SELECT pg_sleep(30)") }
        #expect(error?.kind == .disconnected)
        #expect(!connection.isUsable)
        let later = #expect(throws: SQLError.self) { try connection.prepare("SELECT 1").run() }
        #expect(later?.kind == .disconnected)
    }
}
