// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The last broadcast of each channel that stores one: one row, whatever the number of subscribers.
final class BroadcastTable {
    /// The identity of a removed row.
    struct Removed {
        var sequence: Int64
        var channel: ChannelNumber
        var topic: TopicID
    }

    private let insert: any SQLStatement
    private let deleteOfChannel: any SQLStatement
    private let deleteOfTopic: any SQLStatement
    private let deleteOne: any SQLStatement
    private let deleteExpired: any SQLStatement
    private let selectChannel: any SQLStatement
    private let selectSequence: any SQLStatement
    private let selectStored: any SQLStatement
    private let selectWaiting: any SQLStatement
    private let countByTopic: any SQLStatement
    private let countOfDevice: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        insert = try connection.prepare("INSERT INTO broadcasts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        deleteOfChannel = try connection.prepare(
            """
            DELETE FROM broadcasts WHERE channel = ?
            RETURNING sequence, channel, (SELECT topic FROM channels WHERE number = channel)
            """)
        deleteOfTopic = try connection.prepare(
            """
            DELETE FROM broadcasts WHERE channel IN (SELECT number FROM channels WHERE topic = ?)
            RETURNING sequence, channel, (SELECT topic FROM channels WHERE number = channel)
            """)
        deleteOne = try connection.prepare(
            """
            DELETE FROM broadcasts WHERE sequence = ?
            RETURNING sequence, channel, (SELECT topic FROM channels WHERE number = channel)
            """)
        deleteExpired = try connection.prepare(
            """
            DELETE FROM broadcasts WHERE sequence IN (
                SELECT sequence FROM broadcasts WHERE expires_at_ms < ? ORDER BY expires_at_ms LIMIT ?)
            RETURNING sequence, channel, (SELECT topic FROM channels WHERE number = channel)
            """)
        selectChannel = try connection.prepare(
            "SELECT topic, channel FROM broadcasts JOIN channels ON number = channel WHERE sequence = ?")
        selectSequence = try connection.prepare("SELECT sequence FROM broadcasts WHERE channel = ?")
        selectStored = try connection.prepare(
            """
            SELECT sequence, channels.id, channel, topic, NULL, accepted_at_ms, unique_high, unique_low, request_id,
                topic_name, priority, expiration, payload, checksum
            FROM broadcasts JOIN channels ON channels.number = channel
            WHERE sequence >= ? ORDER BY sequence LIMIT ?
            """)
        // In SQLite, CROSS JOIN fixes the order of the tables, because a device has few subscriptions and the server
        // many broadcasts.
        selectWaiting = try connection.prepare(
            """
            SELECT sequence, channels.id, subscriptions.device, subscriptions.topic, registrations.generation,
                accepted_at_ms, unique_high, unique_low, request_id, topic_name, priority, expiration, payload, checksum
            FROM subscriptions CROSS JOIN broadcasts CROSS JOIN channels CROSS JOIN registrations
            WHERE broadcasts.channel = subscriptions.channel AND broadcasts.sequence > subscriptions.since
                AND channels.number = subscriptions.channel
                AND registrations.device = subscriptions.device AND registrations.topic = subscriptions.topic
                AND subscriptions.device = ? AND sequence > ? AND expires_at_ms >= ? AND live = 1 AND refused = 0
            ORDER BY sequence LIMIT ?
            """)
        countByTopic = try connection.prepare(
            """
            SELECT topic, count(*) FROM broadcasts JOIN channels ON channels.number = broadcasts.channel GROUP BY topic
            """)
        countOfDevice = try connection.prepare(
            """
            SELECT count(*) FROM subscriptions CROSS JOIN broadcasts CROSS JOIN registrations
            WHERE broadcasts.channel = subscriptions.channel AND broadcasts.sequence > subscriptions.since
                AND registrations.device = subscriptions.device AND registrations.topic = subscriptions.topic
                AND subscriptions.device = ? AND refused = 0
            """)
    }

    /// Stores the broadcast of a channel that stores none.
    ///
    /// - Parameters:
    ///   - template: The broadcast, not yet addressed to a device.
    ///   - channel: The channel.
    ///   - expiresAt: The time at which the stored broadcast expires.
    /// - Throws: The error that the engine returned.
    func add(
        _ template: PendingNotification, of channel: ChannelNumber, expiresAt: Timestamp
    ) throws(SQLError) {
        let notification = template.notification
        insert.bind(template.sequence, at: 1)
        insert.bind(channel.rawValue, at: 2)
        insert.bind(expiresAt.unixMilliseconds, at: 3)
        insert.bind(notification.acceptedAt.unixMilliseconds, at: 4)
        insert.bind(Int64(bitPattern: notification.uniqueID.high), at: 5)
        insert.bind(Int64(bitPattern: notification.uniqueID.low), at: 6)
        insert.bind(notification.apnsID, at: 7)
        insert.bind(notification.suffixedTopic, at: 8)
        insert.bind(notification.priority.map(Int64.init), at: 9)
        insert.bind(notification.expiration?.unixSeconds ?? 0, at: 10)
        insert.bind(notification.payload, at: 11)
        insert.bind(template.checksum, at: 12)
        try insert.run()
    }

    // MARK: Removing

    /// Removes the stored broadcast of a channel.
    func remove(of channel: ChannelNumber) throws(SQLError) -> [Removed] {
        deleteOfChannel.bind(channel.rawValue, at: 1)
        return try removed(by: deleteOfChannel)
    }

    /// Removes the stored broadcasts of an app's channels.
    func removeAll(of topic: TopicID) throws(SQLError) -> [Removed] {
        deleteOfTopic.bind(Int64(topic.rawValue), at: 1)
        return try removed(by: deleteOfTopic)
    }

    /// Removes the broadcast with a sequence.
    func remove(_ sequence: Int64) throws(SQLError) -> [Removed] {
        deleteOne.bind(sequence, at: 1)
        return try removed(by: deleteOne)
    }

    /// Removes expired broadcasts, at most `countMax`.
    func removeExpired(now: Timestamp, countMax: Int) throws(SQLError) -> [Removed] {
        deleteExpired.bind(now.unixMilliseconds, at: 1)
        deleteExpired.bind(Int64(countMax), at: 2)
        return try removed(by: deleteExpired)
    }

    private func removed(by statement: any SQLStatement) throws(SQLError) -> [Removed] {
        var rows: [Removed] = []
        while try statement.step() {
            rows.append(
                Removed(
                    sequence: statement.int64(0), channel: ChannelNumber(rawValue: statement.int64(1)),
                    topic: TopicID(stored: statement.int64(2))))
        }
        return rows
    }

    // MARK: Reading

    /// Returns the channel that stores a broadcast, and its app; nil if none does.
    func channel(of sequence: Int64) throws(SQLError) -> (topic: TopicID, number: ChannelNumber)? {
        selectChannel.bind(sequence, at: 1)
        defer { selectChannel.reset() }
        guard try selectChannel.step() else { return nil }
        return (TopicID(stored: selectChannel.int64(0)), ChannelNumber(rawValue: selectChannel.int64(1)))
    }

    /// Returns the number of the broadcast that a channel stores; nil without one.
    func sequence(of channel: ChannelNumber) throws(SQLError) -> Int64? {
        selectSequence.bind(channel.rawValue, at: 1)
        defer { selectSequence.reset() }
        return try selectSequence.step() ? selectSequence.int64(0) : nil
    }

    /// Returns the next stored broadcasts from a sequence on, in order.
    ///
    /// - Parameters:
    ///   - sequence: The least sequence.
    ///   - countMax: The maximum number of broadcasts.
    /// - Returns: The broadcasts, without damaged ones, and the sequence to continue from; nil after the last one.
    /// - Throws: The error that the engine returned.
    func stored(
        from sequence: Int64, countMax: Int
    ) throws(SQLError) -> (broadcasts: [PublishedBroadcast], next: Int64?) {
        selectStored.bind(sequence, at: 1)
        selectStored.bind(Int64(countMax), at: 2)
        var (broadcasts, rowCount, last): ([PublishedBroadcast], Int, Int64) = ([], 0, 0)
        while try selectStored.step() {
            let pending = PendingNotification(broadcastRow: selectStored)
            (rowCount, last) = (rowCount + 1, pending.sequence)
            guard pending.checksum == selectStored.int64(13) else { continue }
            let channel = ChannelNumber(rawValue: selectStored.int64(2))
            broadcasts.append(PublishedBroadcast(pending, of: channel, isStored: true))
        }
        return (broadcasts, rowCount == countMax ? last + 1 : nil)
    }

    /// Reads the next broadcasts that wait for a device, in order, without expired and acknowledged ones.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - sequence: The sequence after which to read.
    ///   - now: The current time.
    ///   - countMax: The maximum number of broadcasts.
    ///   - takeRow: Called with each broadcast, addressed to the device, and whether its checksum is correct.
    /// - Throws: The error that the engine returned.
    func forEachWaiting(
        of device: DeviceID, after sequence: Int64, now: Timestamp, countMax: Int,
        _ takeRow: (PendingNotification, _ isIntact: Bool) -> Void
    ) throws(SQLError) {
        selectWaiting.bind(device.stored, at: 1)
        selectWaiting.bind(sequence, at: 2)
        selectWaiting.bind(now.unixMilliseconds, at: 3)
        selectWaiting.bind(Int64(countMax), at: 4)
        while try selectWaiting.step() {
            let pending = PendingNotification(broadcastRow: selectWaiting)
            let isIntact = pending.checksum == selectWaiting.int64(13)
            let token = DeviceTokenContents(
                device: DeviceID(stored: selectWaiting.int64(2)), topic: TopicID(stored: selectWaiting.int64(3)),
                generation: UInt32(truncatingIfNeeded: selectWaiting.int64(4)))
            takeRow(pending.addressed(to: token), isIntact)
        }
    }

    /// Returns the number of stored broadcasts of each topic.
    func countsByTopic() throws(SQLError) -> [TopicID: Int] {
        var counts: [TopicID: Int] = [:]
        while try countByTopic.step() {
            counts[TopicID(stored: countByTopic.int64(0))] = Int(countByTopic.int64(1))
        }
        return counts
    }

    /// Returns the number of stored broadcasts that wait for a device.
    func count(of device: DeviceID) throws(SQLError) -> Int {
        countOfDevice.bind(device.stored, at: 1)
        defer { countOfDevice.reset() }
        return try countOfDevice.step() ? Int(countOfDevice.int64(0)) : 0
    }
}
