// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The table `slots` in the shard with the control data.
extension PostgresConnection {
    /// Returns the assignment of slots to shards.
    func slots() throws(SQLError) -> SlotMap {
        let statement = try prepare("SELECT slot, shard, coalesce(moving_to, -1), coalesce(former, -1) FROM slots")
        let shard = { (number: Int64) in number < 0 ? nil : Int(number) }
        var rows: [SlotMap.Row] = []
        while try statement.step() {
            rows.append(
                .init(
                    slot: Int(statement.int64(0)), shard: Int(statement.int64(1)),
                    target: shard(statement.int64(2)), former: shard(statement.int64(3))))
        }
        return SlotMap(rows: rows)
    }

    /// Assigns all slots if none is assigned: equally among the shards, or to shard 0 if it already has devices.
    ///
    /// If several nodes start at the same time, one node assigns all slots. The others wait until it has committed.
    func assignSlots(shardCount: Int) throws(SQLError) {
        let statement = try prepare(
            """
            INSERT INTO slots(slot, shard)
            SELECT slot, CASE WHEN EXISTS (SELECT 1 FROM devices) THEN 0 ELSE slot * ?::bigint / ?::bigint END
            FROM generate_series(0::bigint, ?::bigint - 1) AS slot WHERE NOT EXISTS (SELECT 1 FROM slots)
            ORDER BY slot ON CONFLICT DO NOTHING
            """)
        statement.bind(Int64(shardCount), at: 1)
        statement.bind(Int64(SlotMap.slotCount), at: 2)
        statement.bind(Int64(SlotMap.slotCount), at: 3)
        try statement.run()
    }
}
