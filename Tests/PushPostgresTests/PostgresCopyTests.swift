// SPDX-License-Identifier: Apache-2.0

@testable import PushPostgres
import PushSQL
import TestSupport
import Testing

@Suite(.needsPostgres) struct PostgresCopyTests {
    private static let columns: [CopyColumn] = [.bigint, .integer, .text, .bytea]
    private static let copyIn = "COPY t FROM STDIN (FORMAT binary)"
    private let fixture: PostgresFixture
    private let connection: PostgresConnection

    init() async throws {
        fixture = try await PostgresFixture()
        connection = try fixture.connect()
        try connection.execute("CREATE TABLE t(a bigint PRIMARY KEY, b integer, c text, d bytea)")
    }

    private func write(_ rows: [[SQLValue]]) throws -> Int {
        let copy = try connection.copyIn(Self.copyIn, Self.columns)
        for row in rows { try copy.append(row) }
        return try copy.finish()
    }

    private func read(_ query: String = "SELECT * FROM t ORDER BY a") throws -> [[SQLValue]] {
        let copy = try connection.copyOut("COPY (\(query)) TO STDOUT (FORMAT binary)", Self.columns)
        var rows: [[SQLValue]] = []
        while let row = try copy.next() { rows.append(row) }
        #expect(try copy.next() == nil)
        return rows
    }

    @Test func `copied rows are returned unchanged`() throws {
        let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let rows: [[SQLValue]] = [
            [.number(.min), .number(-1), .text(""), .bytes([])],
            [.number(0), .null, .null, .null],
            [.number(1), .number(Int64(Int32.max)), .text("e\u{301} 🦆"), .bytes(large)],
            [.number(.max), .number(7), .text(String(repeating: "x", count: 100_000)), .bytes([0, 255])],
        ]
        #expect(try write(rows) == 4)
        #expect(try read() == rows)
        #expect(try write([]) == 0)
    }

    @Test func `many rows are sent in several parts`() throws {
        let rows = (0..<50_000).map { number -> [SQLValue] in
            [.number(Int64(number)), .number(5), .text("text \(number)"), .bytes([1, 2, 3])]
        }
        #expect(try write(rows) == rows.count)
        #expect(try read() == rows)
    }

    @Test func `a refused row is reported at the end, and the connection can still be used`() throws {
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in
                let copy = try connection.copyIn(Self.copyIn, Self.columns)
                for number in 0..<50_000 {
                    try copy.append([.number(Int64(number % 40_000)), .null, .null, .null])
                }
                _ = try copy.finish()
            }
        }
        #expect(error?.kind == .constraint && error?.code == "23505")
        #expect(try read() == [])
        #expect(try write([[.number(1), .null, .null, .null]]) == 1)
    }

    @Test func `an error between two rows is reported, and the connection can still be used`() throws {
        let error = #expect(throws: SQLError.self) {
            try read("SELECT 8 / (3 - n), 1, '', NULL::bytea FROM generate_series(1::bigint, 5) AS n")
        }
        #expect(error?.code == "22012")
        #expect(try read() == [])
    }

    @Test func `a COPY that the server refuses is reported`() throws {
        let error = #expect(throws: SQLError.self) { try connection.copyIn("COPY u FROM STDIN", Self.columns) }
        #expect(error?.code == "42P01")
        let other = #expect(throws: SQLError.self) { try connection.copyOut("COPY (SELECT 1", Self.columns) }
        #expect(other?.code == "42601")
        #expect(try write([]) == 0)
    }

    @Test func `rows in another format are reported`() throws {
        let error = #expect(throws: SQLError.self) { try read("SELECT 1::bigint") }
        #expect(error?.code == "08P01")
        #expect(!connection.isUsable)
    }

    @Test func `an unfinished COPY makes the connection unusable and leaves nothing`() async throws {
        do {
            let other = try fixture.connect()
            let error = #expect(throws: SQLError.self) {
                try other.transaction { () throws(SQLError) in
                    let copy = try other.copyIn(Self.copyIn, Self.columns)
                    try copy.append([.number(1), .null, .null, .null])
                    throw SQLError(kind: .refused, code: "", message: "ours", subject: "")
                }
            }
            #expect(error?.message == "ours")
            #expect(!other.isUsable)
        }
        #expect(try read() == [])
    }

    @Test func `a connection that is lost during a COPY is reported`() async throws {
        let other = try fixture.connect()
        let copy = try other.copyIn(Self.copyIn, Self.columns)
        _ = try await fixture.sql("SELECT pg_terminate_backend(\(other.serverProcess))")
        let error = #expect(throws: SQLError.self) {
            for number in 0..<100_000 { try copy.append([.number(Int64(number)), .null, .null, .null]) }
            _ = try copy.finish()
        }
        #expect(error?.kind == .disconnected)
        #expect(try read() == [])
    }
}
