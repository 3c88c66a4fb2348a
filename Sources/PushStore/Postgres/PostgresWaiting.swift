// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The notifications that wait for devices, in the table `pending` of PostgreSQL.
final class PostgresWaiting: WaitingNotifications {
    private let deleteAll: any SQLStatement
    private let deleteOfTopic: any SQLStatement
    private let deleteSome: any SQLStatement
    private let count: any SQLStatement

    init(_ database: any SQLDatabase) throws(SQLError) {
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
    }

    func remove(of device: DeviceID, topic: TopicID?) throws(SQLError) -> [PendingTable.Removed] {
        guard let topic else { return try removed(from: device, by: deleteAll) }
        deleteOfTopic.bind(Int64(topic.rawValue), at: 2)
        return try removed(from: device, by: deleteOfTopic)
    }

    func pendingCount(of device: DeviceID) throws(SQLError) -> Int {
        count.bind(device.stored, at: 1)
        defer { count.reset() }
        return try count.step() ? Int(count.int64(0)) : 0
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
