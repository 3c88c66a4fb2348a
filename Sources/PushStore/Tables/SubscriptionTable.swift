// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

/// Which app on which device listens to which channel, and which broadcasts are behind it.
///
/// A row lives as long as its registration and its channel do. Of the sequences up to `since` it has nothing to do with
/// any: they are acknowledged, or older than the subscription, or came while the device refused the topic.
final class SubscriptionTable {
    /// A subscription to whose device broadcasts may go.
    struct Listener {
        var channel: ChannelNumber
        var token: DeviceTokenContents
    }

    /// A subscription that is gone.
    struct Ended {
        var device: DeviceID
        var channel: ChannelNumber
        /// The broadcast that the channel stores, which may be on its way to the device.
        var storedSequence: Int64?
    }

    private let connection: Connection
    private let insert: Statement
    private let selectOne: Statement
    private let selectCount: Statement
    private let selectChannels: Statement
    private let selectListeners: Statement
    private let countByChannel: Statement
    private let acknowledge: Statement
    private let selectWaiting: Statement
    private let skipRefused: Statement
    private let selectOnTheWay: Statement
    private let deleteOne: Statement
    private let deleteOfRegistration: Statement
    private let deleteOfDevice: Statement
    private let deleteOfChannel: Statement
    private let deleteOfTopic: Statement

    init(_ connection: Connection) throws(SQLiteError) {
        self.connection = connection
        insert = try connection.prepare(
            "INSERT INTO subscriptions(device, topic, channel, since) VALUES (?, ?, ?, ?)")
        selectOne = try connection.prepare(
            "SELECT 1 FROM subscriptions WHERE device = ? AND topic = ? AND channel = ?")
        selectCount = try connection.prepare("SELECT count(*) FROM subscriptions WHERE device = ? AND topic = ?")
        selectChannels = try connection.prepare(
            """
            SELECT channels.id FROM subscriptions JOIN channels ON channels.number = subscriptions.channel
            WHERE subscriptions.device = ? AND subscriptions.topic = ? ORDER BY subscriptions.position
            """)
        selectListeners = try connection.prepare(
            """
            SELECT channel, topic, generation FROM subscriptions JOIN registrations USING (device, topic)
            WHERE device = ? AND live = 1 AND refused = 0
            """)
        countByChannel = try connection.prepare("SELECT channel, count(*) FROM subscriptions GROUP BY channel")
        acknowledge = try connection.prepare(
            """
            UPDATE subscriptions SET since = ?1
            WHERE channel = (SELECT channel FROM broadcasts WHERE sequence = ?1) AND device = ?2 AND since < ?1
            """)
        selectWaiting = try connection.prepare(
            """
            SELECT 1 FROM subscriptions
            WHERE channel = (SELECT channel FROM broadcasts WHERE sequence = ?1) AND device = ?2 AND since < ?1
            """)
        skipRefused = try connection.prepare(
            """
            UPDATE subscriptions SET since = ?1 WHERE device = ?2 AND topic IN (
                SELECT topic FROM registrations WHERE device = ?2 AND refused = 1)
            """)
        selectOnTheWay = try connection.prepare(
            """
            SELECT sequence FROM subscriptions JOIN broadcasts USING (channel)
            WHERE device = ?1 AND topic IN (SELECT topic FROM registrations WHERE device = ?1 AND refused = 1)
            """)
        deleteOne = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE device = ? AND topic = ? AND channel = ? RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        deleteOfRegistration = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE device = ? AND topic = ? RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        deleteOfDevice = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE device = ? RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        deleteOfChannel = try connection.prepare("DELETE FROM subscriptions WHERE channel = ?")
        deleteOfTopic = try connection.prepare("DELETE FROM subscriptions WHERE topic = ?")
    }

    // MARK: One device

    /// Whether an app on a device is subscribed.
    func contains(_ device: DeviceID, _ topic: TopicID, _ channel: ChannelNumber) throws(SQLiteError) -> Bool {
        selectOne.bind(device.stored, at: 1)
        selectOne.bind(Int64(topic.rawValue), at: 2)
        selectOne.bind(channel.rawValue, at: 3)
        defer { selectOne.reset() }
        return try selectOne.step()
    }

    /// Channels that an app on a device is subscribed to.
    func count(of device: DeviceID, topic: TopicID) throws(SQLiteError) -> Int {
        selectCount.bind(device.stored, at: 1)
        selectCount.bind(Int64(topic.rawValue), at: 2)
        defer { selectCount.reset() }
        return try selectCount.step() ? Int(selectCount.int64(0)) : 0
    }

    /// Channels that an app on a device is subscribed to, in the order of subscribing.
    func channels(of device: DeviceID, topic: TopicID) throws(SQLiteError) -> [ChannelID] {
        var channels: [ChannelID] = []
        selectChannels.bind(device.stored, at: 1)
        selectChannels.bind(Int64(topic.rawValue), at: 2)
        while try selectChannels.step() {
            if let channel = ChannelID(selectChannels.bytes(0)) { channels.append(channel) }
        }
        return channels
    }

    /// The subscriptions of a device, without those of topics that it refuses.
    func listeners(of device: DeviceID) throws(SQLiteError) -> [Listener] {
        var listeners: [Listener] = []
        selectListeners.bind(device.stored, at: 1)
        while try selectListeners.step() {
            let token = DeviceTokenContents(
                device: device, topic: TopicID(stored: selectListeners.int64(1)),
                generation: UInt32(truncatingIfNeeded: selectListeners.int64(2)))
            listeners.append(Listener(channel: ChannelNumber(rawValue: selectListeners.int64(0)), token: token))
        }
        return listeners
    }

    /// Subscribes an app that is not; broadcasts up to a sequence are none of its business.
    func add(_ device: DeviceID, _ topic: TopicID, _ channel: ChannelNumber, since: Int64) throws(SQLiteError) {
        insert.bind(device.stored, at: 1)
        insert.bind(Int64(topic.rawValue), at: 2)
        insert.bind(channel.rawValue, at: 3)
        insert.bind(since, at: 4)
        try insert.run()
    }

    /// Whether a stored broadcast waits for a device's acknowledgement.
    func isWaiting(_ sequence: Int64, for device: DeviceID) throws(SQLiteError) -> Bool {
        selectWaiting.bind(sequence, at: 1)
        selectWaiting.bind(device.stored, at: 2)
        defer { selectWaiting.reset() }
        return try selectWaiting.step()
    }

    /// Notes that a device has a stored broadcast; false when there is none, or it is not for this device.
    func acknowledge(_ sequence: Int64, by device: DeviceID) throws(SQLiteError) -> Bool {
        acknowledge.bind(sequence, at: 1)
        acknowledge.bind(device.stored, at: 2)
        try acknowledge.run()
        return connection.changedRowCount > 0
    }

    /// Leaves out, for ever, the broadcasts up to a sequence of all topics that a device refuses now.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - sequence: The last one to leave out.
    /// - Returns: Those that may be on their way to the device.
    /// - Throws: What SQLite answered.
    func skipRefused(of device: DeviceID, upTo sequence: Int64) throws(SQLiteError) -> [Int64] {
        var sequences: [Int64] = []
        selectOnTheWay.bind(device.stored, at: 1)
        while try selectOnTheWay.step() { sequences.append(selectOnTheWay.int64(0)) }
        skipRefused.bind(sequence, at: 1)
        skipRefused.bind(device.stored, at: 2)
        try skipRefused.run()
        return sequences
    }

    // MARK: Ends

    /// Ends one subscription; nil when there is none.
    func remove(_ device: DeviceID, _ topic: TopicID, _ channel: ChannelNumber) throws(SQLiteError) -> Ended? {
        deleteOne.bind(device.stored, at: 1)
        deleteOne.bind(Int64(topic.rawValue), at: 2)
        deleteOne.bind(channel.rawValue, at: 3)
        return try ended(by: deleteOne).first
    }

    /// Ends all of an app on a device.
    func removeAll(of device: DeviceID, topic: TopicID) throws(SQLiteError) -> [Ended] {
        deleteOfRegistration.bind(device.stored, at: 1)
        deleteOfRegistration.bind(Int64(topic.rawValue), at: 2)
        return try ended(by: deleteOfRegistration)
    }

    /// Ends all of a device.
    func removeAll(of device: DeviceID) throws(SQLiteError) -> [Ended] {
        deleteOfDevice.bind(device.stored, at: 1)
        return try ended(by: deleteOfDevice)
    }

    /// Ends all of a channel.
    func removeAll(of channel: ChannelNumber) throws(SQLiteError) {
        deleteOfChannel.bind(channel.rawValue, at: 1)
        try deleteOfChannel.run()
    }

    /// Ends all of an app, on every device; reads the whole table, as nothing is ordered by topic alone.
    func removeAll(of topic: TopicID) throws(SQLiteError) {
        deleteOfTopic.bind(Int64(topic.rawValue), at: 1)
        try deleteOfTopic.run()
    }

    /// How many subscribed to each channel.
    func countsByChannel() throws(SQLiteError) -> [ChannelNumber: Int] {
        var counts: [ChannelNumber: Int] = [:]
        while try countByChannel.step() {
            counts[ChannelNumber(rawValue: countByChannel.int64(0))] = Int(countByChannel.int64(1))
        }
        return counts
    }

    private func ended(by statement: Statement) throws(SQLiteError) -> [Ended] {
        var rows: [Ended] = []
        while try statement.step() {
            rows.append(
                Ended(
                    device: DeviceID(stored: statement.int64(0)),
                    channel: ChannelNumber(rawValue: statement.int64(1)),
                    storedSequence: statement.optionalInt64(2)))
        }
        return rows
    }
}
