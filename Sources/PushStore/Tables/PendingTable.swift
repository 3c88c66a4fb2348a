// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Notifications that wait for their device's acknowledgement, in order of acceptance.
final class PendingTable {
    /// Names a row that was removed.
    struct Removed {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
    }

    private let connection: Connection
    private let insert: Statement
    private let selectCollapsible: Statement
    private let selectAtBound: Statement
    private let selectOldest: Statement
    private let selectWaiting: Statement
    private let deleteOne: Statement
    private let deleteDamaged: Statement
    private let deleteOfRegistration: Statement
    private let deleteOfDevice: Statement
    private let deleteOfTopic: Statement
    private let deleteExpired: Statement
    private let countByTopic: Statement
    private let countOfDevice: Statement
    private let selectLastSequence: Statement
    private let updateLastSequence: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        insert = try connection.prepare(
            "INSERT INTO pending VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        selectCollapsible = try connection.prepare(
            "SELECT sequence FROM pending WHERE device = ? AND topic = ? AND collapse_id = ?")
        selectAtBound = try connection.prepare(
            "SELECT 1 FROM pending WHERE device = ? AND topic = ? LIMIT 1 OFFSET ?")
        selectOldest = try connection.prepare("SELECT min(sequence) FROM pending WHERE device = ? AND topic = ?")
        selectWaiting = try connection.prepare(
            """
            SELECT sequence, device, topic, generation, accepted_at_ms, unique_high, unique_low, apns_id, topic_name,
                push_type, priority, expiration, collapse_id, payload, checksum
            FROM pending INDEXED BY pending_by_device
            WHERE device = ? AND sequence > ? AND expires_at_ms >= ? ORDER BY sequence LIMIT ?
            """)
        deleteOne = try connection.prepare(
            "DELETE FROM pending WHERE sequence = ? AND device = ? RETURNING sequence, device, topic")
        deleteDamaged = try connection.prepare("DELETE FROM pending WHERE sequence = ?")
        deleteOfRegistration = try connection.prepare(
            "DELETE FROM pending WHERE device = ? AND topic = ? RETURNING sequence, device, topic")
        deleteOfDevice = try connection.prepare(
            "DELETE FROM pending WHERE device = ? RETURNING sequence, device, topic")
        deleteOfTopic = try connection.prepare(
            "DELETE FROM pending WHERE topic = ? RETURNING sequence, device, topic")
        deleteExpired = try connection.prepare(
            """
            DELETE FROM pending WHERE sequence IN (
                SELECT sequence FROM pending WHERE expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?)
            RETURNING sequence, device, topic
            """)
        countByTopic = try connection.prepare("SELECT topic, count(*) FROM pending GROUP BY device, topic")
        countOfDevice = try connection.prepare("SELECT count(*) FROM pending WHERE device = ?")
        selectLastSequence = try connection.prepare("SELECT value FROM state WHERE name = 'last_sequence'")
        updateLastSequence = try connection.prepare("UPDATE state SET value = ? WHERE name = 'last_sequence'")
    }

    // MARK: One notification

    /// Puts a notification at the end of its device's queue.
    func add(_ pending: PendingNotification, expiresUnixMilliseconds: Int64) throws(SQLiteError) {
        let notification = pending.notification
        insert.bind(pending.sequence, at: 1)
        insert.bind(notification.address.device.stored, at: 2)
        insert.bind(Int64(notification.address.topic.rawValue), at: 3)
        insert.bind(Int64(notification.address.generation), at: 4)
        insert.bind(expiresUnixMilliseconds, at: 5)
        insert.bind(notification.acceptedUnixMilliseconds, at: 6)
        insert.bind(Int64(bitPattern: notification.uniqueID.high), at: 7)
        insert.bind(Int64(bitPattern: notification.uniqueID.low), at: 8)
        insert.bind(notification.apnsID, at: 9)
        insert.bind(notification.topicName, at: 10)
        insert.bind(notification.pushType?.rawValue, at: 11)
        insert.bind(notification.priority.map(Int64.init), at: 12)
        insert.bind(notification.expirationUnixSeconds, at: 13)
        insert.bind(notification.collapseID, at: 14)
        insert.bind(notification.payload, at: 15)
        insert.bind(pending.checksum, at: 16)
        try insert.run()
    }

    /// The one that a collapse id would replace.
    func collapsible(device: Int64, topic: TopicID, collapseID: [UInt8]) throws(SQLiteError) -> Int64? {
        selectCollapsible.bind(device, at: 1)
        selectCollapsible.bind(Int64(topic.rawValue), at: 2)
        selectCollapsible.bind(collapseID, at: 3)
        defer { selectCollapsible.reset() }
        return try selectCollapsible.step() ? selectCollapsible.int64(0) : nil
    }

    /// The oldest of an app on a device, if at least `countMax` wait there.
    func oldest(device: Int64, topic: TopicID, ifCountReaches countMax: Int) throws(SQLiteError) -> Int64? {
        selectAtBound.bind(device, at: 1)
        selectAtBound.bind(Int64(topic.rawValue), at: 2)
        selectAtBound.bind(Int64(max(countMax, 1) - 1), at: 3)
        defer { selectAtBound.reset() }
        guard try selectAtBound.step() else { return nil }
        selectOldest.bind(device, at: 1)
        selectOldest.bind(Int64(topic.rawValue), at: 2)
        defer { selectOldest.reset() }
        return try selectOldest.step() ? selectOldest.optionalInt64(0) : nil
    }

    /// Removes one, if it is the device's.
    func remove(_ sequence: Int64, of device: DeviceID) throws(SQLiteError) -> Removed? {
        deleteOne.bind(sequence, at: 1)
        deleteOne.bind(device.stored, at: 2)
        return try removed(by: deleteOne).first
    }

    /// Removes one, whosever it is; false when it is gone already.
    func remove(_ sequence: Int64) throws(SQLiteError) -> Bool {
        deleteDamaged.bind(sequence, at: 1)
        try deleteDamaged.run()
        return connection.changedRowCount > 0
    }

    // MARK: Many

    /// Removes all of an app on a device.
    func removeAll(of device: DeviceID, topic: TopicID) throws(SQLiteError) -> [Removed] {
        deleteOfRegistration.bind(device.stored, at: 1)
        deleteOfRegistration.bind(Int64(topic.rawValue), at: 2)
        return try removed(by: deleteOfRegistration)
    }

    /// Removes all of a device.
    func removeAll(of device: DeviceID) throws(SQLiteError) -> [Removed] {
        deleteOfDevice.bind(device.stored, at: 1)
        return try removed(by: deleteOfDevice)
    }

    /// Removes all of an app, on every device; reads the whole index, as nothing is ordered by topic alone.
    func removeAll(of topic: TopicID) throws(SQLiteError) -> [Removed] {
        deleteOfTopic.bind(Int64(topic.rawValue), at: 1)
        return try removed(by: deleteOfTopic)
    }

    /// Removes expired ones, at most so many.
    func removeExpired(now: Int64, countMax: Int) throws(SQLiteError) -> [Removed] {
        deleteExpired.bind(now, at: 1)
        deleteExpired.bind(Int64(countMax), at: 2)
        return try removed(by: deleteExpired)
    }

    private func removed(by statement: Statement) throws(SQLiteError) -> [Removed] {
        var rows: [Removed] = []
        while try statement.step() {
            rows.append(
                Removed(
                    sequence: statement.int64(0), device: DeviceID(stored: statement.int64(1)),
                    topic: TopicID(stored: statement.int64(2))))
        }
        return rows
    }

    // MARK: Reading

    /// The next ones of a device that have not expired, in order.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - sequence: Those behind this one.
    ///   - now: UNIX milliseconds.
    ///   - countMax: At most so many.
    ///   - takeRow: Gets each, and whether its checksum is right.
    /// - Throws: What SQLite answered.
    func forEachWaiting(
        of device: DeviceID, after sequence: Int64, now: Int64, countMax: Int,
        _ takeRow: (PendingNotification, _ isIntact: Bool) -> Void
    ) throws(SQLiteError) {
        selectWaiting.bind(device.stored, at: 1)
        selectWaiting.bind(sequence, at: 2)
        selectWaiting.bind(now, at: 3)
        selectWaiting.bind(Int64(countMax), at: 4)
        while try selectWaiting.step() {
            let pending = PendingNotification(row: selectWaiting)
            takeRow(pending, pending.checksum == selectWaiting.int64(14))
        }
    }

    /// How many wait for each topic.
    func countsByTopic() throws(SQLiteError) -> [TopicID: Int] {
        var counts: [TopicID: Int] = [:]
        while try countByTopic.step() {
            counts[TopicID(stored: countByTopic.int64(0)), default: 0] += Int(countByTopic.int64(1))
        }
        return counts
    }

    /// How many wait for a device.
    func count(of device: DeviceID) throws(SQLiteError) -> Int {
        countOfDevice.bind(device.stored, at: 1)
        defer { countOfDevice.reset() }
        return try countOfDevice.step() ? Int(countOfDevice.int64(0)) : 0
    }

    // MARK: The last sequence, which is never given out again

    /// The last sequence that was given out.
    func lastSequence() throws(SQLiteError) -> Int64 {
        defer { selectLastSequence.reset() }
        return try selectLastSequence.step() ? selectLastSequence.int64(0) : 0
    }

    /// Remembers the last sequence; once a transaction, where AUTOINCREMENT would do it for each row.
    func setLastSequence(_ sequence: Int64) throws(SQLiteError) {
        updateLastSequence.bind(sequence, at: 1)
        try updateLastSequence.run()
    }
}
