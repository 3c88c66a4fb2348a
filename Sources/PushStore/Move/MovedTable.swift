// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres

/// A table of the target, and the query that reads its rows from the source.
struct MovedTable {
    struct Column {
        var name: String
        var type: CopyColumn

        static func number(_ name: String) -> Column { Column(name: name, type: .bigint) }
        static func integer(_ name: String) -> Column { Column(name: name, type: .integer) }
        static func text(_ name: String) -> Column { Column(name: name, type: .text) }
        static func bytes(_ name: String) -> Column { Column(name: name, type: .bytea) }
    }

    var name: String
    var columns: [Column]
    /// The condition of the rows that both engines have.
    var condition = "true"
    /// The query on the source.
    var query: String
    /// The types of the columns of the query.
    var queryTypes: [CopyColumn]

    /// Creates a table with the same columns in both engines.
    init(_ name: String, _ columns: [Column], where condition: String = "true") {
        self.name = name
        self.columns = columns
        self.condition = condition
        query = Self.select(name, columns, condition)
        queryTypes = columns.map(\.type)
    }

    /// Creates a table whose rows are made of the rows of a query.
    init(_ name: String, _ columns: [Column], from query: String, _ queryTypes: [CopyColumn]? = nil) {
        self.name = name
        self.columns = columns
        self.query = query
        self.queryTypes = queryTypes ?? columns.map(\.type)
    }

    var columnNames: String { columns.map(\.name).joined(separator: ", ") }

    /// The query that reads the copied rows from the target.
    var resultQuery: String { Self.select(name, columns, condition) }

    private static func select(_ name: String, _ columns: [Column], _ condition: String) -> String {
        "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(name) WHERE \(condition)"
    }
}

extension MovedTable {
    /// The tables whose rows are the same in both engines, in an order that the references between them allow.
    static let shared: [MovedTable] = [
        MovedTable(
            "state", [.text("name"), .number("value")], where: "name IN ('policy_version', 'authority_version')"),
        MovedTable(
            "topics",
            [
                .number("id"), .text("topic"), .text("name"), .text("team"), .number("added_at_ms"),
                .number("removed_at_ms"), .text("checks"), .number("broadcasts"),
            ]),
        MovedTable(
            "keys",
            [
                .text("id"), .text("team"), .number("scoped"), .bytes("public_key"), .number("created_at"),
                .number("revoked_at"), .text("environment"),
            ]),
        MovedTable("key_topics", [.text("key"), .number("position"), .text("topic")]),
        MovedTable(
            "certificates",
            [
                .bytes("fingerprint"), .text("serial_number"), .text("team"), .text("environment"),
                .number("created_at"), .number("expires_at"), .number("revoked_at"),
            ]),
        MovedTable("certificate_topics", [.bytes("certificate"), .number("position"), .text("topic")]),
        MovedTable(
            "send_tokens",
            [
                .bytes("id"), .bytes("hash"), .number("topic"), .text("name"), .number("created_at"),
                .number("expires_at"),
            ]),
        devices,
        MovedTable(
            "enrolment_codes",
            [
                .bytes("hash"), .number("expires_at"), .number("used_at_ms"), .number("device"),
                .bytes("request_hash"),
            ]),
        registrations,
        MovedTable("filters", [.number("device"), .text("topic")]),
        MovedTable(
            "policies",
            [.number("device"), .text("topic"), .text("name"), .text("value"), .number("locked")]),
        MovedTable(
            "channels",
            [
                .number("number"), .bytes("id"), .number("topic"), .text("environment"), .number("policy"),
                .number("created_at_ms"),
            ]),
        subscriptions,
        MovedTable(
            "broadcasts",
            [
                .number("sequence"), .number("channel"), .number("expires_at_ms"), .number("accepted_at_ms"),
                .number("unique_high"), .number("unique_low"), .bytes("request_id"), .text("topic_name"),
                .number("priority"), .number("expiration"), .bytes("payload"), .number("checksum"),
            ]),
        MovedTable(
            "quotas",
            [
                .text("kind"), .text("name"), .number("rate"), .number("burst"), .number("daily"),
                .number("bad_tokens"),
            ]),
        quotaUses,
        MovedTable("delivery_histories", [.number("device"), .bytes("entries")]),
        webhooks,
    ]

    private static let devices = MovedTable(
        "devices",
        [
            .number("id"), .bytes("secret_hash"), .text("name"), .text("platform"), .number("enrolled_at_ms"),
            .number("removed_at_ms"), .number("seen_at_ms"), .number("dormant"), .text("agent"),
            .bytes("enrolled_under"), .number("authority_version"),
        ])
    private static let registrations = MovedTable(
        "registrations",
        [
            .number("device"), .number("topic"), .number("generation"), .number("live"), .number("refused"),
            .number("registered_at_ms"), .number("ended_at_ms"), .text("environment"), .number("expired"),
        ])
    private static let subscriptions = MovedTable(
        "subscriptions",
        [.number("position"), .number("device"), .number("topic"), .number("channel"), .number("since")])
    private static let quotaUses = MovedTable(
        "quota_uses", [.text("kind"), .text("name"), .number("day"), .number("used")])
    private static let webhooks = MovedTable(
        "webhooks",
        [
            .number("topic"), .text("url"), .bytes("secret"), .number("position"), .number("failing_at_ms"),
            .text("problem"),
        ])

    // MARK: To PostgreSQL

    /// The tables of PostgreSQL besides `pending` and `trace`, with their queries on SQLite.
    static var toPostgres: [MovedTable] {
        shared.map { table in
            guard table.name == quotaUses.name else { return table }
            return MovedTable(
                table.name, table.columns + [.number("node")], from: "SELECT kind, name, day, used, 0 FROM quota_uses")
        }
    }

    /// The notifications that wait; `MovedNotifications` replaces the key.
    static let pendingToPostgres = MovedTable(
        "pending",
        [
            .number("device"), .number("key"), .number("id"), .number("topic"), .number("expires_at_ms"),
            .bytes("record"),
        ],
        from: "SELECT device, 0, sequence, topic, expires_at_ms, record FROM pending ORDER BY sequence")

    /// The trace as that of node 0; `MovedTrace` replaces the IDs.
    static let traceToPostgres = MovedTable(
        "trace",
        [
            .number("position"), .integer("node"), .number("first_at_ms"), .number("last_at_ms"),
            .number("first_id"), .number("last_id"), .bytes("events"),
        ],
        from: """
            SELECT position, 0, first_at_ms, last_at_ms, 0, 0, events FROM trace WHERE length(events) > 0
            ORDER BY position
            """)

    // MARK: To SQLite

    /// The tables of SQLite besides `pending` and `trace`, with their queries on PostgreSQL.
    ///
    /// SQLite has references that PostgreSQL cannot have, because it may keep their tables in different databases.
    static var toSQLite: [MovedTable] {
        shared.map { table in
            switch table.name {
            case registrations.name:
                MovedTable(table.name, table.columns, from: table.query + " AND topic IN (SELECT id FROM topics)")
            case subscriptions.name:
                MovedTable(
                    table.name, table.columns,
                    from: table.query
                        + " AND topic IN (SELECT id FROM topics) AND channel IN (SELECT number FROM channels)")
            case quotaUses.name:
                MovedTable(
                    table.name, table.columns,
                    from: """
                        SELECT kind, name, day, CAST(sum(used) AS bigint) FROM quota_uses
                        JOIN (SELECT kind, name, max(day) AS day FROM quota_uses GROUP BY kind, name) AS last
                            USING (kind, name, day)
                        GROUP BY kind, name, day
                        """)
            default: table
            }
        }
    }

    /// The trace; `MovedTrace` replaces the sequence.
    ///
    /// Without events, an empty row has the end.
    static let traceToSQLite = MovedTable(
        "trace",
        [
            .number("position"), .number("first_at_ms"), .number("last_at_ms"), .number("last_sequence"),
            .bytes("events"),
        ],
        from: """
            SELECT position, first_at_ms, last_at_ms, 0::bigint, events FROM trace
            UNION ALL SELECT position, 0, 0, 0, '' FROM trace_end
                WHERE position > 0 AND NOT EXISTS (SELECT 1 FROM trace)
            ORDER BY position
            """)

    /// The notifications that wait; `MovedNotifications` replaces the collapse hash.
    ///
    /// PostgreSQL may have rows of ended registrations, which are deleted when they are read.
    static let pendingToSQLite = MovedTable(
        "pending",
        [
            .number("sequence"), .number("device"), .number("topic"), .number("collapse"),
            .number("expires_at_ms"), .number("trace_position"), .bytes("record"),
        ],
        from: """
            SELECT id, device, topic, expires_at_ms, record, generation FROM pending
            JOIN registrations USING (device, topic) WHERE live = 1 ORDER BY id, device, key
            """,
        [.bigint, .bigint, .bigint, .bigint, .bytea, .bigint])
}
