// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Deletes the waiting notifications of a device that exceed the bounds.
final class PostgresTrimmer {
    private let transaction: StoreTransaction
    private let bounds: StoreBounds
    private let awayMilliseconds: Int64
    private let topics: TopicTable
    private let selectHost: any SQLStatement
    private let selectRows: any SQLStatement
    private let delete: any SQLStatement

    /// Prepares the statements.
    ///
    /// - Parameters:
    ///   - database: The connection to the tables of devices.
    ///   - topics: The apps.
    ///   - transaction: The events of what is deleted.
    ///   - bounds: The bounds of the store.
    ///   - awayMilliseconds: The time without a stream after which a device counts as away.
    /// - Throws: The error that PostgreSQL returned.
    init(
        _ database: any SQLDatabase, _ topics: TopicTable, _ transaction: StoreTransaction, _ bounds: StoreBounds,
        awayMilliseconds: Int64
    ) throws(SQLError) {
        self.topics = topics
        self.transaction = transaction
        self.bounds = bounds
        self.awayMilliseconds = awayMilliseconds
        // A node that started again ended the streams of its earlier instance.
        selectHost = try database.prepare(
            """
            SELECT h.instance, h.left_at_ms, n.instance, (extract(epoch FROM n.seen_at) * 1000)::bigint,
                n.seen_at > clock_timestamp() - interval '3 seconds'
            FROM hosts h LEFT JOIN nodes n ON n.number = (h.instance >> 12) & 1023 AND h.instance <> 0
            WHERE h.device = ?
            """)
        selectRows = try database.prepare(
            "SELECT key, id, topic, expires_at_ms FROM pending WHERE device = ? ORDER BY id")
        delete = try database.prepare("DELETE FROM pending WHERE device = ? AND key = ? AND id = ? RETURNING id")
    }

    /// Deletes what exceeds the bounds, each row in a transaction of its own.
    ///
    /// An acknowledgement would prevent a serializable transaction.
    ///
    /// - Parameter device: The device.
    /// - Throws: The error that PostgreSQL returned.
    func trim(_ device: DeviceID) throws(SQLError) {
        let rows = try waiting(for: device)
        guard rows.count > bounds.pendingPerTopicCountMax else { return }
        let queue = TrimmedQueue(
            rows, isAway: try isAway(device), topicCountMax: bounds.pendingPerTopicCountMax,
            deviceCountMax: bounds.pendingPerDeviceCountMax, removalCountMax: PostgresLimits.rowsTrimmedCountMax,
            now: transaction.now)
        for removal in queue.removals {
            delete.bind(device.stored, at: 1)
            delete.bind(removal.row.key, at: 2)
            delete.bind(removal.row.id, at: 3)
            defer { delete.reset() }
            guard try delete.step() else { continue }
            let row = PendingTable.Removed(sequence: removal.row.id, device: device, topic: removal.row.topic)
            transaction.note([row], removal.reason, removal.detail)
        }
    }

    private func waiting(for device: DeviceID) throws(SQLError) -> [TrimmedQueue.Row] {
        selectRows.bind(device.stored, at: 1)
        var rows: [TrimmedQueue.Row] = []
        while try selectRows.step() {
            rows.append(
                .init(
                    key: selectRows.int64(0), id: selectRows.int64(1), topic: TopicID(stored: selectRows.int64(2)),
                    team: "", expiresAt: selectRows.optionalInt64(3).map(Timestamp.init(unixMilliseconds:))))
        }
        guard rows.count > bounds.pendingPerTopicCountMax else { return rows }
        let teams = Dictionary(try topics.all().lazy.map { ($0.topic.id, $0.topic.teamID) }) { first, _ in first }
        for index in rows.indices { rows[index].team = teams[rows[index].topic] ?? "" }
        return rows
    }

    /// Returns whether the device has had no stream for a while.
    private func isAway(_ device: DeviceID) throws(SQLError) -> Bool {
        selectHost.bind(device.stored, at: 1)
        defer { selectHost.reset() }
        guard try selectHost.step() else { return true }
        let (instance, current) = (selectHost.int64(0), selectHost.optionalInt64(2))
        let left: Int64?
        if instance == 0 {
            left = selectHost.optionalInt64(1)
        } else if instance == current {
            if selectHost.int64(4) != 0 { return false }
            left = selectHost.optionalInt64(3)
        } else {
            left = current.map(NotificationIDLayout.milliseconds)
        }
        guard let left = left.map(Timestamp.init(unixMilliseconds:)) else { return true }
        return transaction.now.milliseconds(since: left) >= awayMilliseconds
    }
}
