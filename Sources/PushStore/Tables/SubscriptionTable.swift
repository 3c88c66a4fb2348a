// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The channel subscriptions of apps on devices, and the broadcasts that each has received or skipped.
///
/// A row exists as long as its registration and its channel do. It skips the sequences up to `since`: they are
/// acknowledged, or precede the subscription, or arrived while the device refused the topic.
final class SubscriptionTable {
    /// A subscription that ended.
    struct Ended {
        var device: DeviceID
        var channel: ChannelNumber
        /// The sequence of the broadcast that the channel stores, which may be in flight to the device; nil without
        /// one.
        var storedSequence: Int64?
    }

    private let connection: any SQLDatabase
    private let broadcasts: BroadcastTable
    private let insert: any SQLStatement
    private let selectOne: any SQLStatement
    private let selectCount: any SQLStatement
    private let selectChannels: any SQLStatement
    private let selectActive: any SQLStatement
    private let countByChannel: any SQLStatement
    private let acknowledge: any SQLStatement
    private let selectWaiting: any SQLStatement
    private let skip: any SQLStatement
    private let selectStored: any SQLStatement
    private let delete: DeleteStatements

    init(_ connection: any SQLDatabase, _ broadcasts: BroadcastTable) throws(SQLError) {
        self.connection = connection
        self.broadcasts = broadcasts
        insert = try connection.prepare(
            "INSERT INTO subscriptions(device, topic, channel, since) VALUES (?, ?, ?, ?)")
        selectOne = try connection.prepare(
            "SELECT 1 FROM subscriptions WHERE device = ? AND topic = ? AND channel = ?")
        selectCount = try connection.prepare("SELECT count(*) FROM subscriptions WHERE device = ? AND topic = ?")
        selectChannels = try connection.prepare(
            """
            SELECT position, channel FROM subscriptions INDEXED BY subscriptions_by_device
            WHERE device = ? AND topic = ? AND channel > ? ORDER BY channel LIMIT ?
            """,
            postgres: """
                SELECT position, channel FROM subscriptions
                WHERE device = ? AND topic = ? AND channel > ? ORDER BY channel LIMIT ?
                """)
        selectActive = try connection.prepare(
            """
            SELECT channel, topic, generation FROM subscriptions JOIN registrations USING (device, topic)
            WHERE device = ? AND live = 1 AND refused = 0
            """)
        countByChannel = try connection.prepare("SELECT channel, count(*) FROM subscriptions GROUP BY channel")
        // The search is by device, because a channel may have very many subscribers, and each of them acknowledges.
        acknowledge = try connection.prepare(
            "UPDATE subscriptions SET since = ?1 WHERE device = ?2 AND since < ?1 AND topic = ?3 AND channel = ?4")
        selectWaiting = try connection.prepare(
            "SELECT 1 FROM subscriptions WHERE device = ?2 AND since < ?1 AND topic = ?3 AND channel = ?4")
        skip = try connection.prepare(
            "UPDATE subscriptions SET since = ?1 WHERE device = ?2 AND topic = ?3 AND since < ?1")
        selectStored = try connection.prepare(
            """
            SELECT sequence FROM subscriptions CROSS JOIN broadcasts
            WHERE subscriptions.channel = broadcasts.channel AND subscriptions.device = ? AND subscriptions.topic = ?
            """)
        delete = try DeleteStatements(connection)
    }

    // MARK: One device

    /// Returns whether an app on a device subscribes to a channel.
    func contains(_ device: DeviceID, _ topic: TopicID, _ channel: ChannelNumber) throws(SQLError) -> Bool {
        selectOne.bind(device.stored, at: 1)
        selectOne.bind(Int64(topic.rawValue), at: 2)
        selectOne.bind(channel.rawValue, at: 3)
        defer { selectOne.reset() }
        return try selectOne.step()
    }

    /// Returns the number of channels that an app on a device subscribes to.
    func count(of device: DeviceID, topic: TopicID) throws(SQLError) -> Int {
        selectCount.bind(device.stored, at: 1)
        selectCount.bind(Int64(topic.rawValue), at: 2)
        defer { selectCount.reset() }
        return try selectCount.step() ? Int(selectCount.int64(0)) : 0
    }

    /// Returns the next subscriptions of an app on a device after a channel number.
    ///
    /// Positions increase in the order of subscribing.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - topic: The app.
    ///   - number: The channel number after which to read.
    ///   - countMax: The maximum number of rows.
    /// - Returns: The channels with their positions.
    /// - Throws: The error that the engine returned.
    func page(
        of device: DeviceID, topic: TopicID, after number: Int64, countMax: Int
    ) throws(SQLError) -> ListPage<(channel: ChannelNumber, position: Int64), Int64> {
        selectChannels.bind(device.stored, at: 1)
        selectChannels.bind(Int64(topic.rawValue), at: 2)
        selectChannels.bind(number, at: 3)
        selectChannels.bind(Int64(countMax), at: 4)
        return try selectChannels.page(countMax: countMax) { (row) in
            (ChannelNumber(rawValue: row.int64(1)), row.int64(0))
        } key: {
            $0.int64(1)
        }
    }

    /// Returns the subscriptions of a device, without those of topics that it refuses.
    func active(of device: DeviceID) throws(SQLError) -> [ChannelSubscription] {
        var subscriptions: [ChannelSubscription] = []
        selectActive.bind(device.stored, at: 1)
        while try selectActive.step() {
            let token = DeviceTokenContents(
                device: device, topic: TopicID(stored: selectActive.int64(1)),
                generation: UInt32(truncatingIfNeeded: selectActive.int64(2)))
            subscriptions.append(
                ChannelSubscription(channel: ChannelNumber(rawValue: selectActive.int64(0)), token: token))
        }
        return subscriptions
    }

    /// Adds a subscription, which skips broadcasts up to the sequence `since`.
    func add(_ device: DeviceID, _ topic: TopicID, _ channel: ChannelNumber, since: Int64) throws(SQLError) {
        insert.bind(device.stored, at: 1)
        insert.bind(Int64(topic.rawValue), at: 2)
        insert.bind(channel.rawValue, at: 3)
        insert.bind(since, at: 4)
        try insert.run()
    }

    /// Returns whether a stored broadcast waits for a device's acknowledgement.
    func isWaiting(_ sequence: Int64, for device: DeviceID) throws(SQLError) -> Bool {
        guard let stored = try broadcasts.channel(of: sequence) else { return false }
        selectWaiting.bind(sequence, at: 1)
        selectWaiting.bind(device.stored, at: 2)
        selectWaiting.bind(Int64(stored.topic.rawValue), at: 3)
        selectWaiting.bind(stored.number.rawValue, at: 4)
        defer { selectWaiting.reset() }
        return try selectWaiting.step()
    }

    /// Records that a device acknowledged a stored broadcast; returns false when none waits for it.
    func acknowledge(_ sequence: Int64, by device: DeviceID) throws(SQLError) -> Bool {
        guard let stored = try broadcasts.channel(of: sequence) else { return false }
        acknowledge.bind(sequence, at: 1)
        acknowledge.bind(device.stored, at: 2)
        acknowledge.bind(Int64(stored.topic.rawValue), at: 3)
        acknowledge.bind(stored.number.rawValue, at: 4)
        try acknowledge.run()
        return connection.changedRowCount > 0
    }

    /// Skips all broadcasts up to a sequence for an app on a device; returns the number of changed subscriptions.
    func skip(of device: DeviceID, topic: TopicID, upTo sequence: Int64) throws(SQLError) -> Int {
        skip.bind(sequence, at: 1)
        skip.bind(device.stored, at: 2)
        skip.bind(Int64(topic.rawValue), at: 3)
        try skip.run()
        return connection.changedRowCount
    }

    /// Returns the stored broadcasts of the channels that an app on a device subscribes to.
    func stored(for device: DeviceID, topic: TopicID) throws(SQLError) -> [Int64] {
        var sequences: [Int64] = []
        selectStored.bind(device.stored, at: 1)
        selectStored.bind(Int64(topic.rawValue), at: 2)
        while try selectStored.step() { sequences.append(selectStored.int64(0)) }
        return sequences
    }

    // MARK: Ends

    /// Ends a subscription; returns nil if it does not exist.
    func remove(_ device: DeviceID, _ topic: TopicID, _ channel: ChannelNumber) throws(SQLError) -> Ended? {
        delete.one.bind(device.stored, at: 1)
        delete.one.bind(Int64(topic.rawValue), at: 2)
        delete.one.bind(channel.rawValue, at: 3)
        return try ended(by: delete.one).first
    }

    /// Ends all subscriptions of an app on a device.
    func removeAll(of device: DeviceID, topic: TopicID) throws(SQLError) -> [Ended] {
        delete.ofRegistration.bind(device.stored, at: 1)
        delete.ofRegistration.bind(Int64(topic.rawValue), at: 2)
        return try ended(by: delete.ofRegistration)
    }

    /// Ends all subscriptions of a device.
    func removeAll(of device: DeviceID) throws(SQLError) -> [Ended] {
        delete.ofDevice.bind(device.stored, at: 1)
        return try ended(by: delete.ofDevice)
    }

    /// Ends subscriptions of an app on a device, at most `countMax`.
    func removeSome(of device: DeviceID, topic: TopicID, countMax: Int) throws(SQLError) -> [Ended] {
        delete.someOfRegistration.bind(device.stored, at: 1)
        delete.someOfRegistration.bind(Int64(topic.rawValue), at: 2)
        delete.someOfRegistration.bind(Int64(countMax), at: 3)
        return try ended(by: delete.someOfRegistration)
    }

    /// Ends subscriptions to a channel, at most `countMax`.
    func removeSome(of channel: ChannelNumber, countMax: Int) throws(SQLError) -> [Ended] {
        delete.someOfChannel.bind(channel.rawValue, at: 1)
        delete.someOfChannel.bind(Int64(countMax), at: 2)
        return try ended(by: delete.someOfChannel)
    }

    /// Ends all subscriptions to an app's channels, on every device.
    func removeAll(of topic: TopicID) throws(SQLError) {
        delete.ofTopic.bind(Int64(topic.rawValue), at: 1)
        try delete.ofTopic.run()
    }

    /// Returns the number of subscriptions to each channel.
    func countsByChannel() throws(SQLError) -> [ChannelNumber: Int] {
        var counts: [ChannelNumber: Int] = [:]
        while try countByChannel.step() {
            counts[ChannelNumber(rawValue: countByChannel.int64(0))] = Int(countByChannel.int64(1))
        }
        return counts
    }

    private func ended(by statement: any SQLStatement) throws(SQLError) -> [Ended] {
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

/// The statements that end subscriptions; they return the ended ones with the sequence of the stored broadcast.
private struct DeleteStatements {
    let one: any SQLStatement
    let ofRegistration: any SQLStatement
    let ofDevice: any SQLStatement
    let someOfChannel: any SQLStatement
    let someOfRegistration: any SQLStatement
    let ofTopic: any SQLStatement

    init(_ connection: any SQLDatabase) throws(SQLError) {
        one = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE device = ? AND topic = ? AND channel = ? RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        ofRegistration = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE device = ? AND topic = ? RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        ofDevice = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE device = ? RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        someOfChannel = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE position IN (SELECT position FROM subscriptions WHERE channel = ? LIMIT ?)
            RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        someOfRegistration = try connection.prepare(
            """
            DELETE FROM subscriptions WHERE position IN (
                SELECT position FROM subscriptions WHERE device = ? AND topic = ? LIMIT ?)
            RETURNING device, channel,
                (SELECT sequence FROM broadcasts WHERE broadcasts.channel = subscriptions.channel)
            """)
        ofTopic = try connection.prepare(
            "DELETE FROM subscriptions WHERE channel IN (SELECT number FROM channels WHERE topic = ?)")
    }
}
