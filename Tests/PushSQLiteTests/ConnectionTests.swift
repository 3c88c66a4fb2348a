// SPDX-License-Identifier: Apache-2.0

import PushSQL
import Foundation
@testable import PushSQLite
import TestSupport
import Testing

@Suite struct ConnectionTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "test.sqlite")
    }

    private func open(exclusive: Bool = false) throws(SQLError) -> Connection {
        try Connection(path: path, durability: .full, exclusive: exclusive)
    }

    @Test func `only the owner can access a new file and its log`() throws {
        let connection = try open()
        try connection.execute("CREATE TABLE t(x)")
        for name in [path, "\(path)-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test(arguments: [
        ("journal_mode", "wal"), ("synchronous", "2"), ("foreign_keys", "1"), ("trusted_schema", "0"),
        ("locking_mode", "exclusive"), ("cell_size_check", "1"),
    ])
    func `a connection sets each pragma to its safe value`(pragma: String, value: String) throws {
        let connection = try open(exclusive: true)
        let statement = try connection.prepare(
            """
            SELECT 'journal_mode', journal_mode FROM pragma_journal_mode
            UNION ALL SELECT 'synchronous', synchronous FROM pragma_synchronous
            UNION ALL SELECT 'foreign_keys', foreign_keys FROM pragma_foreign_keys
            UNION ALL SELECT 'trusted_schema', trusted_schema FROM pragma_trusted_schema
            UNION ALL SELECT 'locking_mode', locking_mode FROM pragma_locking_mode
            UNION ALL SELECT 'cell_size_check', cell_size_check FROM pragma_cell_size_check
            """)
        var found: [String: String] = [:]
        while try statement.step() { found[statement.string(0)] = statement.string(1) }
        #expect(found[pragma] == value)
    }

    @Test func `SQL cannot write the schema table directly`() throws {
        let connection = try open()
        try connection.execute("CREATE TABLE t(x); PRAGMA writable_schema = ON")
        #expect(throws: SQLError.self) { try connection.execute("UPDATE sqlite_schema SET sql = ''") }
    }

    @Test func `an exclusive connection refuses a second one immediately`() throws {
        let first = try open(exclusive: true)
        let error = #expect(throws: SQLError.self) { try open(exclusive: true) }
        #expect(error?.kind == .busy)
        try first.execute("CREATE TABLE t(x)")
    }

    @Test func `a file is unlocked once the connection and its statements are released`() throws {
        do {
            let statement = try open(exclusive: true).prepare("SELECT 1")
            #expect(throws: SQLError.self) { try open(exclusive: true) }
            #expect(try statement.step())
        }
        _ = try open(exclusive: true)
    }

    @Test func `two connections that are not exclusive see each other's commits`() throws {
        let (first, second) = (try open(), try open())
        try first.execute("CREATE TABLE t(x); INSERT INTO t VALUES (7)")
        let statement = try second.prepare("SELECT x FROM t")
        #expect(try statement.step())
        #expect(statement.int64(0) == 7)
    }

    @Test func `a file in a missing directory cannot be opened`() throws {
        let error = #expect(throws: SQLError.self) {
            try Connection(path: directory.path(of: "none/test.sqlite"), durability: .full, exclusive: true)
        }
        #expect(error?.kind == .cannotOpen)
    }

    @Test func `a file that is not a database is reported as damaged`() throws {
        try directory.write(String(repeating: "no database ", count: 1000), to: "test.sqlite")
        let error = #expect(throws: SQLError.self) { try open() }
        #expect(error?.kind == .damaged)
    }

    @Test func `a read-only database is refused`() throws {
        let open = try TemporaryDirectory(isOpen: true)
        let path = try open.write("", to: "test.sqlite", permissions: 0o444)
        let error = try OrdinaryUser.run {
            #expect(throws: SQLError.self) { try Connection(path: path, durability: .full, exclusive: true) }
        }
        #expect(error?.kind == .readOnly)
    }

    // MARK: Transactions

    @Test func `a transaction that throws is rolled back`() throws {
        let connection = try open()
        try connection.execute("CREATE TABLE t(x INTEGER UNIQUE)")
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(error?.kind == .constraint)
        #expect(try count(connection) == 0)
        try connection.transaction { () throws(SQLError) in try connection.execute("INSERT INTO t VALUES (1)") }
        #expect(try count(connection) == 1)
    }

    @Test func `a failed commit is rolled back and leaves the connection usable`() throws {
        let connection = try open()
        try connection.execute(
            "CREATE TABLE a(x INTEGER PRIMARY KEY); CREATE TABLE t(x REFERENCES a DEFERRABLE INITIALLY DEFERRED)")
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in try connection.execute("INSERT INTO t VALUES (9)") }
        }
        #expect(error?.kind == .constraint)
        try connection.transaction { () throws(SQLError) in try connection.execute("INSERT INTO a VALUES (9)") }
        #expect(try count(connection) == 0)
    }

    @Test func `a full database is reported as full`() throws {
        let connection = try open()
        try connection.execute("CREATE TABLE t(x); PRAGMA max_page_count = 10")
        let error = #expect(throws: SQLError.self) {
            try connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
        }
        #expect(error?.kind == .full)
    }

    @Test func `the number of changed rows and the last inserted row are reported`() throws {
        let connection = try open()
        try connection.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)")
        #expect(connection.lastInsertedRow == 3)
        try connection.execute("DELETE FROM t WHERE x > 1")
        #expect(connection.changedRowCount == 2)
    }

    // MARK: Checkpoints

    @Test func `with manual checkpoints the log grows until a checkpoint is requested`() throws {
        let connection = try open(exclusive: true)
        connection.checkpointByHand()
        try connection.execute("CREATE TABLE t(x)")
        for _ in 0..<1100 { try connection.execute("INSERT INTO t VALUES (zeroblob(3000))") }
        #expect(connection.logPageCount > 1000, "SQLite's own checkpoint comes at 1000 pages")
        try connection.checkpoint(.passive)
        #expect(connection.logPageCount == 0)
        try connection.execute("INSERT INTO t VALUES (1)")
        #expect((1...10).contains(connection.logPageCount), "the log is written from its start")
        try connection.checkpoint(.truncate)
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)-wal")
        #expect(attributes[.size] as? Int == 0)
    }

    @Test(arguments: [true, false])
    func `closing keeps the log only on request`(leaves: Bool) throws {
        do {
            let connection = try open(exclusive: true)
            try connection.execute("CREATE TABLE t(x); INSERT INTO t VALUES (1)")
            if leaves { connection.leaveLogOnClose() }
        }
        #expect(FileManager.default.fileExists(atPath: "\(path)-wal") == leaves)
        #expect(try count(try open()) == 1)
    }

    private func count(_ connection: Connection) throws(SQLError) -> Int64 {
        let statement = try connection.prepare("SELECT count(*) FROM t")
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : -1
    }
}
