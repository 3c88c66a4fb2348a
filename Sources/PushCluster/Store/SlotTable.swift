// SPDX-License-Identifier: Apache-2.0

internal import PushPostgres
internal import PushSQL
internal import PushStore

/// The table `slots` in the shard with the control data.
extension PostgresConnection {
    /// Returns the assignment of slots to shards.
    func slots() throws(SQLError) -> SlotMap {
        let statement = try prepare("SELECT slot, shard, moving_to IS NOT NULL, former IS NOT NULL FROM slots")
        var rows: [(slot: Int, shard: Int, isMoving: Bool, hasLeftovers: Bool)] = []
        while try statement.step() {
            rows.append(
                (
                    Int(statement.int64(0)), Int(statement.int64(1)), statement.int64(2) != 0,
                    statement.int64(3) != 0
                ))
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
