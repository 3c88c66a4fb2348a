// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushSQL
@testable import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite struct MovedTableTests {
    /// The tables of SQLite that are made of others.
    private static let derived = ["archived", "archived_counts"]
    /// The tables of PostgreSQL that only running nodes need, and those of the data directory.
    private static let ofNodes = [
        "nodes", "hosts", "control", "changes", "slots", "moved_slots", "secrets", "trace_end",
    ]

    @Test func `every table of SQLite and every column is copied from PostgreSQL`() throws {
        let database = try Connection(inMemory: "test")
        try Schema.migrations.apply(to: database)
        let select = try database.prepare(
            """
            SELECT tables.name, group_concat(columns.name, ', ') FROM sqlite_schema AS tables,
                pragma_table_info(tables.name) AS columns
            WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' GROUP BY tables.name
            """)
        var expected: [String: String] = [:]
        while try select.step() { expected[select.string(0)] = select.string(1) }
        for table in Self.derived { expected[table] = nil }
        let tables = MovedTable.toSQLite + [.traceToSQLite, .pendingToSQLite]
        #expect(Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.columnNames) }) == expected)
    }

    @Test(.needsPostgres) func `every table of PostgreSQL and every column is copied from SQLite`() async throws {
        let fixture = try await PostgresFixture()
        _ = try PostgresTestStore(fixture)
        let tables = MovedTable.toPostgres + [.traceToPostgres, .pendingToPostgres]
        let found = try await fixture.sql(
            """
            SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
                SELECT table_name || ': ' || string_agg(
                    column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) AS line
                FROM information_schema.columns WHERE table_schema = current_schema() GROUP BY table_name) AS tables
            """)
        let expected = found.split(separator: "\n").map(String.init).filter { line in
            !Self.ofNodes.contains { line.hasPrefix("\($0):") }
        }
        let lines = tables.map { table in
            "\(table.name): " + table.columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        }
        #expect(lines.sorted() == expected.sorted())
    }

    // MARK: The trace

    /// Returns packed events of these sequences: the first ones of notifications, or others.
    private func events(_ sequences: [Int64], areFirst: Bool, _ detail: TraceDetail = .none) -> SQLValue {
        let (topic, device, now) = (TopicID(rawValue: 1), DeviceID(rawValue: 1), TestStore.start)
        var bytes: [UInt8] = []
        for sequence in sequences {
            let origin = TraceEvent.Origin(topic: topic, generation: 1, uniqueID: .unique(1), apnsID: .apns(1))
            let first = TraceEvent(accepted: origin, detail, sequence: sequence, device: device, at: now)
            let other = TraceEvent(.stored, sequence: sequence, topic: topic, device: device, at: now)
            (areFirst ? first : other).append(to: &bytes)
        }
        return .bytes(bytes)
    }

    @Test func `a row for SQLite has the last sequence that was accepted until its end`() {
        var trace = MovedTrace()
        let all = [
            events([8], areFirst: true), events([99], areFirst: false), events([77], areFirst: true, .recordedAgain),
            events([9, 4], areFirst: true), events([], areFirst: true),
        ]
        let rows = all.map { trace.toSQLite([.number(5), .number(1), .number(2), .number(0), $0]) }
        #expect(rows.map { $0[3] } == [.number(8), .number(8), .number(8), .number(9), .number(9)])
        #expect(rows.map { $0[4] } == all && rows.allSatisfy { $0[0] == .number(5) })
    }

    @Test func `a row for PostgreSQL has the least and the greatest ID that is accepted in it`() {
        func ids(_ sequences: [Int64], areFirst: Bool = true) -> [SQLValue] {
            let events = events(sequences, areFirst: areFirst)
            let found = MovedTrace.withIDs(
                [.number(5), .number(0), .number(1), .number(2), .number(0), .number(0), events])
            #expect(found[0...3] == [.number(5), .number(0), .number(1), .number(2)] && found[6] == events)
            return Array(found[4...5])
        }
        #expect(ids([5, 2, 9, 3]) == [.number(2), .number(9)])
        #expect(ids([7]) == [.number(7), .number(7)])
        #expect(ids([7, 8], areFirst: false) == [.number(0), .number(0)])
    }

    // MARK: Comparing

    @Test func `a sum depends on each value and its place, and not on the order of rows`() {
        func sum(_ rows: [[SQLValue]]) -> RowSum {
            var sum = RowSum()
            for row in rows { sum.add(row) }
            return sum
        }
        let rows: [[SQLValue]] = [[.number(1), .text("a")], [.null, .bytes([1])]]
        #expect(sum(rows) == sum(rows.reversed()))
        #expect(sum(rows).count == 2)
        let others: [[[SQLValue]]] = [
            [], [rows[0]], [rows[0], rows[0]], [[.number(2), .text("a")], rows[1]],
            [[.text("a"), .number(1)], rows[1]], [[.number(1), .bytes([97])], rows[1]],
            [rows[0], [.number(0), .bytes([1])]], [rows[0], [.null, .bytes([])]],
        ]
        for other in others { #expect(sum(other) != sum(rows), "\(other)") }
    }
}
