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
    private static let ofNodes = ["nodes", "hosts", "control", "changes", "slots", "secrets"]

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
        let tables = MovedTable.toSQLite + [.traceToSQLite, .webhooksToSQLite, .pendingToSQLite]
        #expect(Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.columnNames) }) == expected)
    }

    @Test func `every table of PostgreSQL and every column is copied from SQLite`() async throws {
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

    /// Returns a row of a node with events of these sequences, at a position.
    private func row(_ node: Int64, _ position: Int64, _ sequences: [Int64], accepted: Bool = false) -> [SQLValue] {
        var events: [UInt8] = []
        for sequence in sequences {
            let (topic, device, now) = (TopicID(rawValue: 1), DeviceID(rawValue: 1), TestStore.start)
            if accepted {
                let origin = TraceEvent.Origin(
                    topic: topic, generation: 1, uniqueID: .unique(1), apnsID: .apns(1))
                TraceEvent(accepted: origin, sequence: sequence, device: device, at: now).append(to: &events)
            } else {
                TraceEvent(.stored, sequence: sequence, topic: topic, device: device, at: now).append(to: &events)
            }
        }
        return [.number(node), .number(position), .number(1), .number(2), .bytes(events)]
    }

    @Test func `the streams of several nodes become one, and each webhook begins at its first unread event`() throws {
        let one = Int64(TraceEvent.byteCount)
        var trace = MovedTrace([
            .init(topic: 1, node: 1, position: 1000 + one), .init(topic: 1, node: 2, position: 0),
            .init(topic: 2, node: 1, position: 1000 + 3 * one), .init(topic: 2, node: 2, position: 2 * one),
            .init(topic: 3, node: 1, position: 1000 + 2 * one), .init(topic: 3, node: 2, position: 2 * one),
            .init(topic: 4, node: 1, position: 0), .init(topic: 4, node: 2, position: 5000),
        ])
        let rows = [
            row(1, 1000, [5, 9], accepted: false), row(2, 0, [7]), row(3, 0, []), row(1, 1000 + 2 * one, [3]),
            row(2, one, [4]),
        ]
        let found = rows.compactMap { trace.append($0) }
        #expect(found.map(\.first) == [.number(0), .number(2 * one), .number(3 * one), .number(4 * one)])
        #expect(found.map(\.last) == [rows[0][4], rows[1][4], rows[3][4], rows[4][4]])
        #expect(trace.end == 5 * one)
        #expect([1, 2, 3, 4, 9].map(trace.position) == [one, 5 * one, 3 * one, 0, 5 * one])
    }

    @Test func `a row has the last sequence that was accepted until its end`() {
        var trace = MovedTrace([])
        let rows = [row(1, 0, [8], accepted: true), row(1, 66, [99]), row(1, 96, [9, 4], accepted: true)]
        #expect(rows.compactMap { trace.append($0)?[3] } == [.number(8), .number(8), .number(9)])
    }

    @Test func `a row for PostgreSQL has the least and the greatest ID of its events`() {
        func ids(_ sequences: [Int64]) -> [SQLValue] {
            let events = row(0, 0, sequences)[4]
            let found = MovedTrace.withIDs(
                [.number(0), .number(5), .number(1), .number(2), .number(33), .number(33), events])
            #expect(found[0...3] == [.number(0), .number(5), .number(1), .number(2)] && found[6] == events)
            return Array(found[4...5])
        }
        #expect(ids([5, 2, 9, 3]) == [.number(2), .number(9)])
        #expect(ids([7]) == [.number(7), .number(7)])
        #expect(ids([]) == [.number(33), .number(33)])
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
