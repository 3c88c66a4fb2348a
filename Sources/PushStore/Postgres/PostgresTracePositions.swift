// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The positions in the trace rows of all nodes from which webhooks report events.
final class PostgresTracePositions: TracePositions {
    let isOn: Bool
    /// The position in a row of `webhooks`, which PostgreSQL does not use: `webhook_positions` has one for each node.
    let nextPosition: Int64 = 0
    private let insert: any SQLStatement

    init(_ database: any SQLDatabase, isOn: Bool) throws(SQLError) {
        self.isOn = isOn
        insert = try database.prepare(
            """
            INSERT INTO webhook_positions(topic, shard, node, position)
            SELECT CAST(? AS bigint), 0, node, max(position + octet_length(events)) FROM trace GROUP BY node
            ON CONFLICT DO NOTHING
            """)
    }

    /// Lets a new webhook start at the end of each node's rows; an existing one keeps its positions.
    func noteWebhook(of topic: TopicID) throws(SQLError) {
        insert.bind(Int64(topic.rawValue), at: 1)
        try insert.run()
    }
}
