// SPDX-License-Identifier: Apache-2.0

import PushSQL
@testable import PushSQLite
import TestSupport
import Testing

@Suite struct StatementTests {
    private let directory: TemporaryDirectory
    private let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection(path: directory.path(of: "test.sqlite"), durability: .normal, exclusive: false)
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

    @Test(arguments: ["", "a", "with\0NUL", "e\u{301} \u{e9} 🦆", String(repeating: "x", count: 100_000)])
    func `a bound text is returned byte for byte`(value: String) throws {
        let statement = try connection.prepare("SELECT ?1, ?2, typeof(?1)")
        statement.bind(value, at: 1)
        statement.bind(String?.some(value), at: 2)
        #expect(try statement.step())
        #expect(Array(statement.string(0).utf8) == Array(value.utf8))
        #expect(statement.optionalString(1).map { Array($0.utf8) } == Array(value.utf8))
        #expect(statement.string(2) == "text")
    }

    @Test(arguments: [0, 1, 8, 4096, 100_000])
    func `bound bytes are returned unchanged, and an empty array is not NULL`(count: Int) throws {
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let statement = try connection.prepare("SELECT ?1, ?2, typeof(?1)")
        statement.bind(value, at: 1)
        statement.bind([UInt8]?.some(value), at: 2)
        #expect(try statement.step())
        #expect(statement.bytes(0) == value)
        #expect(statement.optionalBytes(1) == value)
        #expect(statement.string(2) == "blob")
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

    @Test func `a statement can be reused after its last row`() throws {
        let statement = try connection.prepare("SELECT ?1")
        for round in Int64(0)..<3 {
            statement.bind(round, at: 1)
            #expect(try statement.step())
            #expect(statement.int64(0) == round)
            #expect(try !statement.step())
        }
    }

    @Test func `a statement can be reused after a constraint violation`() throws {
        try connection.execute("CREATE TABLE t(x INTEGER UNIQUE)")
        let statement = try connection.prepare("INSERT INTO t VALUES (?)")
        statement.bind(1, at: 1)
        try statement.run()
        statement.bind(1, at: 1)
        let error = #expect(throws: SQLError.self) { try statement.run() }
        #expect(error?.kind == .constraint)
        #expect(error?.subject == "INSERT INTO t VALUES (?)")
        statement.bind(2, at: 1)
        try statement.run()
    }

    @Test func `a value that is too long for a row is refused when the statement runs`() throws {
        let statement = try connection.prepare("SELECT ?1")
        statement.bind([UInt8](repeating: 0, count: 1 << 20), at: 1)
        #expect(try statement.step())
        statement.reset()
        statement.bind([UInt8](repeating: 0, count: 1 << 20 + 1), at: 1)
        #expect(throws: SQLError.self) { try statement.step() }
        statement.bind(1, at: 1)
        #expect(try statement.step())
    }

    @Test func `invalid SQL is refused with its text`() throws {
        let error = #expect(throws: SQLError.self) { try connection.prepare("SELEKT 1") }
        #expect(error?.subject == "SELEKT 1")
        #expect(error?.message.contains("syntax error") == true)
    }

    @Test func `binding a parameter that does not exist stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let directory = try TemporaryDirectory()
            let path = directory.path(of: "test.sqlite")
            let connection = try Connection(path: path, durability: .normal, exclusive: false)
            try connection.prepare("SELECT ?1").bind(1, at: 2)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("no such parameter"))
    }
}
