// SPDX-License-Identifier: Apache-2.0

import PushSQL
@testable import PushSQLite
import TestSupport
import Testing

@Suite struct MigrationsTests {
    private let directory: TemporaryDirectory
    private let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection(path: directory.path(of: "test.sqlite"), durability: .full, exclusive: false)
    }

    private func number(_ sql: StaticString) throws -> Int64 {
        let statement = try connection.prepare(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.int64(0) : -1
    }

    @Test func `migration steps run once each, in order`() throws {
        let first: StaticString = "CREATE TABLE a(x); INSERT INTO a VALUES (1)"
        try Migrations([first]).apply(to: connection)
        let two = Migrations([first, "UPDATE a SET x = x + 1"])
        try two.apply(to: connection)
        try two.apply(to: connection)
        #expect(try number("SELECT x FROM a") == 2)
        #expect(try number("PRAGMA user_version") == 2)
        #expect(two.version == 2)
    }

    @Test(arguments: [(1, false), (2, true), (-1, true)])
    func `a file of a later version is refused`(found: Int, isRefused: Bool) throws {
        try connection.execute("CREATE TABLE a(x)")
        switch found {
        case 2: try connection.execute("PRAGMA user_version = 2")
        case 1: try connection.execute("PRAGMA user_version = 1")
        default: try connection.execute("PRAGMA user_version = -1")
        }
        let migrations = Migrations(["CREATE TABLE a(x)"])
        guard isRefused else { return try migrations.apply(to: connection) }
        let error = #expect(throws: MigrationError.self) { try migrations.apply(to: connection) }
        guard case .newer(let seen, let known) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(seen == found && known == 1)
    }

    @Test func `a failed step leaves the file at the previous version`() throws {
        let migrations = Migrations(["CREATE TABLE a(x)", "CREATE TABLE b(x); CREATE TABLE a(x)"])
        let error = #expect(throws: MigrationError.self) { try migrations.apply(to: connection) }
        guard case .failed(let step, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(step == 1)
        #expect(reason.message.contains("already exists"))
        #expect(try number("PRAGMA user_version") == 1)
        #expect(try number("SELECT count(*) FROM sqlite_schema WHERE name = 'b'") == 0)
    }

    /// SQLite accepts a table's definition in which one bit of a column's name changed.
    @Test func `a file whose tables differ from those of its version is reported as damaged`() throws {
        let migrations = Migrations(["CREATE TABLE a(x, team)", "CREATE INDEX by_x ON a(x)"])
        try migrations.apply(to: connection)
        try connection.execute("CREATE TABLE foreign_one(y)")
        #expect(try migrations.alteredTables(of: connection) == [])
        try connection.execute("DROP TABLE a; CREATE TABLE a(x, tean)")
        #expect(try migrations.alteredTables(of: connection) == ["a", "by_x"])
        let error = #expect(throws: MigrationError.self) { try migrations.apply(to: connection) }
        guard case .failed(2, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.kind == .damaged && reason.message == "the definition of a differs from the schema")
    }
}
