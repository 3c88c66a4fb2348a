// SPDX-License-Identifier: Apache-2.0

internal import PushSQL

/// The numbers of rows in the tables of the store, and their size.
package struct StoreSizes: Sendable {
    package var appCount: Int
    package var deviceCount: Int
    package var registrationCount: Int
    /// The number of waiting notifications and broadcasts.
    package var pendingCount: Int
    /// The size of all tables and indexes in bytes.
    package var byteCount: Int

    /// Adds the sizes of another shard.
    package mutating func add(_ other: StoreSizes) {
        appCount += other.appCount
        deviceCount += other.deviceCount
        registrationCount += other.registrationCount
        pendingCount += other.pendingCount
        byteCount += other.byteCount
    }
}

/// Reads the sizes of the store from one shard.
///
/// Counting a large table takes seconds, and each node reads the sizes every few seconds. Therefore, the rows of a
/// table larger than `exactByteCountMax` are estimated as PostgreSQL's planner does: from the number of rows that the
/// last `VACUUM` or `ANALYZE` found, and the present size. For devices and registrations, the estimate uses partial
/// indexes, which leave out removed devices and ended registrations.
final class StoreSizeReader {
    /// The size of a table or index up to which its rows are counted, in bytes.
    static let exactByteCountMax: Int64 = 1 << 20

    private let exactByteCountMax: Int64
    private let select: any SQLStatement

    init(_ database: any SQLDatabase, exactByteCountMax: Int64 = StoreSizeReader.exactByteCountMax) throws(SQLError) {
        self.exactByteCountMax = exactByteCountMax
        select = try database.prepare(
            """
            WITH relations AS (
                SELECT relname, relkind, reltuples, relpages, pg_relation_size(oid) AS byte_count,
                    pg_total_relation_size(oid) AS total_byte_count
                FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'i')),
            estimates AS (
                SELECT relname,
                    (reltuples * byte_count / current_setting('block_size')::bigint / relpages)::bigint AS row_count
                FROM relations WHERE byte_count > ? AND relpages > 0 AND reltuples >= 0)
            SELECT (SELECT count(*) FROM topics WHERE removed_at_ms IS NULL),
                coalesce(
                    (SELECT row_count FROM estimates WHERE relname = 'devices_by_enrolment'),
                    (SELECT count(*) FROM devices WHERE removed_at_ms IS NULL
                        AND NOT EXISTS (SELECT 1 FROM moved_slots WHERE slot = (id >> 53)::int))),
                coalesce(
                    (SELECT row_count FROM estimates WHERE relname = 'registrations_by_topic'),
                    (SELECT count(*) FROM registrations WHERE live = 1
                        AND NOT EXISTS (SELECT 1 FROM moved_slots WHERE slot = (device >> 53)::int))),
                coalesce(
                    (SELECT row_count FROM estimates WHERE relname = 'pending'), (SELECT count(*) FROM pending))
                    + (SELECT count(*) FROM broadcasts),
                (SELECT sum(total_byte_count)::bigint FROM relations WHERE relkind = 'r')
            """)
    }

    /// Reads the sizes.
    func read() throws(SQLError) -> StoreSizes {
        select.bind(exactByteCountMax, at: 1)
        defer { select.reset() }
        guard try select.step() else { preconditionFailure("SELECT without FROM has one row") }
        return StoreSizes(
            appCount: Int(select.int64(0)), deviceCount: Int(select.int64(1)),
            registrationCount: Int(select.int64(2)), pendingCount: Int(select.int64(3)),
            byteCount: Int(select.int64(4)))
    }
}
