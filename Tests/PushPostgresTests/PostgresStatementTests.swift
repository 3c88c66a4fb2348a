// SPDX-License-Identifier: Apache-2.0

import PushPostgres
import PushSQL
import TestSupport
import Testing

@Suite(.needsPostgres) struct PostgresStatementTests {
    private let fixture: PostgresFixture
    private let connection: PostgresConnection

    init() async throws {
        fixture = try await PostgresFixture()
        connection = try fixture.connect()
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max])
    func `a bound number is returned unchanged`(value: Int64) throws {
        let statement = try connection.prepare("SELECT ?1, ?2")
        statement.bind(value, at: 1)
        statement.bind(Int64?.some(value), at: 2)
        #expect(try statement.step())
        #expect(statement.int64(0) == value)
        #expect(statement.optionalInt64(1) == value)
    }

    @Test(arguments: ["", "a", "e\u{301} \u{e9} 🦆", String(repeating: "x", count: 100_000)])
    func `a bound text is returned byte for byte`(value: String) throws {
        let statement = try connection.prepare("SELECT ?1, ?2, pg_typeof(?1)::text")
        statement.bind(value, at: 1)
        statement.bind(String?.some(value), at: 2)
        #expect(try statement.step())
        #expect(Array(statement.string(0).utf8) == Array(value.utf8))
        #expect(statement.optionalString(1).map { Array($0.utf8) } == Array(value.utf8))
        #expect(statement.string(2) == "text")
    }

    @Test(arguments: [0, 1, 8, 4096, 3_000_000])
    func `bound bytes are returned unchanged, and an empty array is not NULL`(count: Int) throws {
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let statement = try connection.prepare("SELECT ?1, ?2, pg_typeof(?1)::text")
        statement.bind(value, at: 1)
        statement.bind([UInt8]?.some(value), at: 2)
        #expect(try statement.step())
        #expect(statement.bytes(0) == value)
        #expect(statement.optionalBytes(1) == value)
        #expect(statement.string(2) == "bytea")
    }

    @Test func `NULL is returned as nil or as an empty value`() throws {
        let statement = try connection.prepare("SELECT ?1, ?2, ?3")
        statement.bind(Int64?.none, at: 1)
        statement.bind(String?.none, at: 2)
        statement.bind([UInt8]?.none, at: 3)
        #expect(try statement.step())
        #expect(statement.optionalInt64(0) == nil)
        #expect(statement.optionalString(1) == nil)
        #expect(statement.optionalBytes(2) == nil)
        #expect(statement.int64(0) == 0)
        #expect(statement.string(1) == "")
        #expect(statement.bytes(2) == [])
    }

    @Test func `a parameter that was never bound is NULL`() throws {
        let statement = try connection.prepare("SELECT ?1::bigint, ?2")
        statement.bind(7, at: 2)
        #expect(try statement.step())
        #expect(statement.optionalInt64(0) == nil)
        #expect(statement.int64(1) == 7)
    }

    @Test func `whole numbers of each size and booleans are numbers`() throws {
        let statement = try connection.prepare(
            "SELECT (-2)::smallint, (-3)::integer, (-4)::bigint, true, false, 32767::smallint, NULL::integer")
        #expect(try statement.step())
        #expect((0..<6).map { statement.int64($0) } == [-2, -3, -4, 1, 0, 32767])
        #expect(statement.optionalInt64(6) == nil)
    }

    @Test func `a number is stored in columns of each size`() throws {
        try connection.execute("CREATE TABLE t(a smallint, b integer, c bigint)")
        let statement = try connection.prepare("INSERT INTO t VALUES (?1, ?1, ?1)")
        statement.bind(-300, at: 1)
        try statement.run()
        #expect(try connection.number("SELECT a + b + c FROM t WHERE a = b AND b = c") == -900)
        statement.bind(70_000, at: 1)
        let error = #expect(throws: SQLError.self) { try statement.run() }
        #expect(error?.code == "22003")
        #expect(error?.kind == .refused)
    }

    @Test func `a parameter can be bound to another type later`() throws {
        let statement = try connection.prepare("SELECT ?1, pg_typeof(?1)::text")
        statement.bind(7, at: 1)
        #expect(try statement.step())
        #expect(statement.string(1) == "bigint")
        statement.reset()
        statement.bind("seven", at: 1)
        #expect(try statement.step())
        #expect(statement.string(0) == "seven")
        #expect(statement.string(1) == "text")
    }

    @Test func `rows are read in order, and other statements may run in between`() throws {
        let numbers = try connection.prepare("SELECT generate_series(1, 5)")
        let double = try connection.prepare("SELECT ? * 2")
        var found: [Int64] = []
        while try numbers.step() {
            double.bind(numbers.int64(0), at: 1)
            #expect(try double.step())
            found.append(double.int64(0))
            double.reset()
        }
        #expect(found == [2, 4, 6, 8, 10])
        #expect(try numbers.step(), "a statement can be reused after its last row")
        numbers.reset()
    }

    @Test func `a reset statement starts with its first row and keeps its values`() throws {
        let statement = try connection.prepare("SELECT generate_series(?, 9)")
        statement.bind(4, at: 1)
        #expect(try statement.step() && statement.step())
        #expect(statement.int64(0) == 5)
        statement.reset()
        #expect(try statement.step())
        #expect(statement.int64(0) == 4)
    }

    @Test func `two statements with one text are prepared once`() throws {
        for value in Int64(0)..<3 {
            let statement = try connection.prepare("SELECT ?1 + 1")
            statement.bind(value, at: 1)
            #expect(try statement.step())
            #expect(statement.int64(0) == value + 1)
        }
        let count = try connection.number(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1 + 1'")
        #expect(count == 1)
    }

    @Test func `a statement can be reused after a constraint violation`() throws {
        try connection.execute("CREATE TABLE t(x bigint UNIQUE)")
        let statement = try connection.prepare("INSERT INTO t VALUES (?)")
        statement.bind(1, at: 1)
        try statement.run()
        statement.bind(1, at: 1)
        let error = #expect(throws: SQLError.self) { try statement.run() }
        #expect(error?.kind == .constraint)
        #expect(error?.code == "23505")
        #expect(error?.subject == "INSERT INTO t VALUES (?)")
        statement.bind(2, at: 1)
        try statement.run()
    }

    @Test func `invalid SQL is refused with its text when it is first executed`() throws {
        let statement = try connection.prepare("SELEKT ?")
        let error = #expect(throws: SQLError.self) { try statement.step() }
        #expect(error?.kind == .refused)
        #expect(error?.code == "42601")
        #expect(error?.subject == "SELEKT ?")
        #expect(error?.message.contains("syntax error") == true)
    }

    @Test func `a replacement character takes the place of a NUL, which PostgreSQL does not store`() throws {
        let statement = try connection.prepare("SELECT ?1")
        statement.bind("a\0b\0", at: 1)
        #expect(try statement.step())
        #expect(statement.string(0) == "a\u{FFFD}b\u{FFFD}")
    }

    @Test(arguments: [Misuse.parameter, .column, .type, .text, .noRow, .rowsLeft])
    fileprivate func `a wrong use stops the process`(misuse: Misuse) async throws {
        let (address, schema) = (fixture.address, fixture.schema)
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [address = address as String, schema = schema as String, misuse = misuse as Misuse] in
            let connection = try PostgresConnection(to: PostgresAddress(address), settings: .test(schema: schema))
            try misuse.commit(on: connection)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(misuse.message))
    }
}

/// A wrong use of a statement, which is always a defect of the caller.
private enum Misuse: String, Codable, Sendable {
    case parameter, column, type, text, noRow, rowsLeft

    var message: String {
        switch self {
        case .parameter: "no such parameter"
        case .column: "the result has no column 1"
        case .type: "is not a whole number"
        case .text: "is neither text nor bytes"
        case .noRow: "read without a row"
        case .rowsLeft: "bound while the statement had rows left"
        }
    }

    func commit(on connection: PostgresConnection) throws {
        let statement = try connection.prepare("SELECT ?1")
        if self == .parameter { statement.bind(1, at: 2) }
        if self == .text { statement.bind(1, at: 1) } else { statement.bind("text", at: 1) }
        if self == .noRow { _ = statement.string(0) }
        _ = try statement.step()
        switch self {
        case .column: _ = statement.string(1)
        case .type: _ = statement.int64(0)
        case .text: _ = statement.bytes(0)
        case .rowsLeft: statement.bind(1, at: 1)
        case .parameter, .noRow: break
        }
    }
}
