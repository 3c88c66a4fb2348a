// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The notifications that wait for devices, in the table `pending` of PostgreSQL.
final class PostgresWaiting: WaitingNotifications {
    private let deleteAll: any SQLStatement
    private let deleteOfTopic: any SQLStatement
    private let deleteOne: any SQLStatement
    private let deleteCollapsible: any SQLStatement
    private let count: any SQLStatement

    init(_ database: any SQLDatabase) throws(SQLError) {
        deleteAll = try database.prepare("DELETE FROM pending WHERE device = ? RETURNING id, topic")
        deleteOfTopic = try database.prepare(
            "DELETE FROM pending WHERE device = ? AND topic = ? RETURNING id, topic")
        deleteOne = try database.prepare(
            "DELETE FROM pending WHERE device = ?1 AND key = ?2 AND id = ?2 RETURNING id, topic")
        deleteCollapsible = try database.prepare(
            "DELETE FROM pending WHERE device = ? AND key < 0 AND id = ? RETURNING id, topic")
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

    /// Removes the notification with an ID; returns nil if none waits for the device.
    func remove(_ id: Int64, of device: DeviceID) throws(SQLError) -> PendingTable.Removed? {
        for statement in [deleteOne, deleteCollapsible] {
            statement.bind(id, at: 2)
            if let removed = try removed(from: device, by: statement).first { return removed }
        }
        return nil
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
