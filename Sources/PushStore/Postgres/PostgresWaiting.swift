// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The notifications that wait for devices, in the table `pending` of PostgreSQL.
final class PostgresWaiting: WaitingNotifications {
    private let deleteAll: any SQLStatement
    private let deleteOfTopic: any SQLStatement
    private let deleteSome: any SQLStatement
    private let count: any SQLStatement
    private let selectSubscriptions: any SQLStatement
    private let countBroadcasts: any SQLStatement

    /// Prepares the statements.
    ///
    /// - Parameters:
    ///   - database: The connection to the tables of devices.
    ///   - control: The connection to the control data.
    /// - Throws: The error that PostgreSQL returned.
    init(_ database: any SQLDatabase, control: any SQLDatabase) throws(SQLError) {
        deleteAll = try database.prepare("DELETE FROM pending WHERE device = ? RETURNING id, topic")
        deleteOfTopic = try database.prepare(
            "DELETE FROM pending WHERE device = ? AND topic = ? RETURNING id, topic")
        // Without a collapse ID, the key is the ID.
        deleteSome = try database.prepare(
            """
            WITH given AS (SELECT unnest(CAST(CAST(?2 AS text) AS bigint[])) AS id)
            DELETE FROM pending USING given
            WHERE pending.device = ?1 AND pending.id = given.id AND (pending.key = given.id OR pending.key < 0)
            RETURNING pending.id, topic
            """)
        count = try database.prepare("SELECT count(*) FROM pending WHERE device = ?")
        selectSubscriptions = try database.prepare(
            """
            SELECT CAST(array_agg(channel) AS text), CAST(array_agg(since) AS text)
            FROM subscriptions JOIN registrations USING (device, topic) WHERE device = ? AND refused = 0
            """)
        countBroadcasts = try control.prepare(
            """
            SELECT count(*) FROM broadcasts JOIN unnest(
                CAST(CAST(?1 AS text) AS bigint[]), CAST(CAST(?2 AS text) AS bigint[])) AS s(channel, since)
                USING (channel) WHERE sequence > since
            """)
    }

    func remove(of device: DeviceID, topic: TopicID?) throws(SQLError) -> [PendingTable.Removed] {
        guard let topic else { return try removed(from: device, by: deleteAll) }
        deleteOfTopic.bind(Int64(topic.rawValue), at: 2)
        return try removed(from: device, by: deleteOfTopic)
    }

    func pendingCount(of device: DeviceID) throws(SQLError) -> Int {
        count.bind(device.stored, at: 1)
        defer { count.reset() }
        return (try count.step() ? Int(count.int64(0)) : 0) + (try broadcastCount(of: device))
    }

    private func broadcastCount(of device: DeviceID) throws(SQLError) -> Int {
        selectSubscriptions.bind(device.stored, at: 1)
        defer { selectSubscriptions.reset() }
        guard try selectSubscriptions.step(), let channels = selectSubscriptions.optionalString(0),
            let positions = selectSubscriptions.optionalString(1)
        else { return 0 }
        countBroadcasts.bind(channels, at: 1)
        countBroadcasts.bind(positions, at: 2)
        defer { countBroadcasts.reset() }
        return try countBroadcasts.step() ? Int(countBroadcasts.int64(0)) : 0
    }

    /// Removes the notifications with some IDs that wait for a device.
    func remove(_ ids: [Int64], of device: DeviceID) throws(SQLError) -> [PendingTable.Removed] {
        guard !ids.isEmpty else { return [] }
        deleteSome.bind("{\(ids.map(String.init).joined(separator: ","))}", at: 2)
        return try removed(from: device, by: deleteSome)
    }

    private func removed(
        from device: DeviceID, by statement: any SQLStatement
    ) throws(SQLError) -> [PendingTable.Removed] {
        statement.bind(device.stored, at: 1)
        var removed: [PendingTable.Removed] = []
        while try statement.step() {
            removed.append(
                PendingTable.Removed(
                    sequence: statement.int64(0), device: device, topic: TopicID(stored: statement.int64(1))))
        }
        return removed
    }
}
