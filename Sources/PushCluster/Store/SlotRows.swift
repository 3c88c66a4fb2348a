// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL

/// The rows of one range of slots in a shard.
struct SlotRows {
    private struct Table {
        var name: String
        var key = "device"
        var order: String?
        var columns: [(name: String, type: CopyColumn)]
    }

    /// The tables, each after the tables that its rows refer to.
    private static let tables = [
        Table(
            name: "devices", key: "id",
            columns: [
                ("id", .bigint), ("secret_hash", .bytea), ("name", .text), ("platform", .text),
                ("enrolled_at_ms", .bigint), ("removed_at_ms", .bigint), ("seen_at_ms", .bigint),
                ("dormant", .bigint), ("agent", .text), ("enrolled_under", .bytea), ("authority_version", .bigint),
            ]),
        Table(
            name: "registrations",
            columns: [
                ("device", .bigint), ("topic", .bigint), ("generation", .bigint), ("live", .bigint),
                ("refused", .bigint), ("registered_at_ms", .bigint), ("ended_at_ms", .bigint),
                ("environment", .text), ("expired", .bigint),
            ]),
        Table(name: "filters", columns: [("device", .bigint), ("topic", .text)]),
        Table(
            name: "subscriptions", order: "position",
            columns: [("device", .bigint), ("topic", .bigint), ("channel", .bigint), ("since", .bigint)]),
        Table(name: "delivery_histories", columns: [("device", .bigint), ("entries", .bytea)]),
        Table(
            name: "pending",
            columns: [
                ("device", .bigint), ("key", .bigint), ("id", .bigint), ("topic", .bigint),
                ("expires_at_ms", .bigint), ("record", .bytea),
            ]),
    ]

    let connection: PostgresConnection
    let range: SlotRange

    private func condition(_ key: String) -> String {
        "\(key) BETWEEN \(range.devices.lowerBound) AND \(range.devices.upperBound)"
    }

    /// Copies all rows into the same tables of another shard; returns their number.
    func copy(to target: PostgresConnection) throws(SQLError) -> Int {
        var count = 0
        for table in Self.tables {
            let names = table.columns.map(\.name).joined(separator: ", ")
            let types = table.columns.map(\.type)
            let order = table.order.map { " ORDER BY \($0)" } ?? ""
            let source = try connection.copyOut(
                "COPY (SELECT \(names) FROM \(table.name) WHERE \(condition(table.key))\(order)) "
                    + "TO STDOUT (FORMAT binary)", types)
            let sink = try target.copyIn("COPY \(table.name)(\(names)) FROM STDIN (FORMAT binary)", types)
            while let row = try source.next() { try sink.append(row) }
            count += try sink.finish()
        }
        return count
    }

    /// Deletes all rows.
    func delete() throws(SQLError) {
        for table in Self.tables.reversed() { try run("DELETE FROM \(table.name) WHERE \(condition(table.key))") }
        try run("DELETE FROM hosts WHERE \(condition("device"))")
    }

    /// Deletes the waiting notifications.
    func deletePending() throws(SQLError) { try run("DELETE FROM pending WHERE \(condition("device"))") }

    /// Moves the notifications that were written after the copy to another shard, and adds their devices to `changes`, in
    /// a transaction of the caller.
    func moveStrays(to target: PostgresConnection) throws(SQLError) {
        let source = try connection.copyOut(
            "COPY (DELETE FROM pending WHERE \(condition("device")) "
                + "RETURNING device, key, id, topic, expires_at_ms, record) TO STDOUT (FORMAT binary)",
            [.bigint, .bigint, .bigint, .bigint, .bigint, .bytea])
        var rows: [[SQLValue]] = []
        while let row = try source.next() { rows.append(row) }
        guard !rows.isEmpty else { return }
        try target.transaction(isolation: .readCommitted) { () throws(SQLError) in
            try Self.write(rows, to: target)
        }
    }

    private static func write(_ rows: [[SQLValue]], to target: PostgresConnection) throws(SQLError) {
        let insert = try target.prepare(
            """
            INSERT INTO pending(device, key, id, topic, expires_at_ms, record)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (device, key) DO UPDATE
            SET id = excluded.id, topic = excluded.topic, expires_at_ms = excluded.expires_at_ms,
                record = excluded.record WHERE pending.id < excluded.id
            """)
        let announce = try target.prepare(
            "INSERT INTO changes(device, at_ms) VALUES (?, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)")
        for row in rows {
            for (index, value) in row.enumerated() {
                switch value {
                case .null: insert.bind(nil as Int64?, at: Int32(index + 1))
                case .number(let number): insert.bind(number, at: Int32(index + 1))
                case .text(let text): insert.bind(text, at: Int32(index + 1))
                case .bytes(let bytes): insert.bind(bytes, at: Int32(index + 1))
                }
            }
            try insert.run()
            guard case .number(let device) = row[0] else { continue }
            announce.bind(device, at: 1)
            try announce.run()
        }
    }

    private func run(_ text: String) throws(SQLError) { try connection.execute(text: text) }
}
