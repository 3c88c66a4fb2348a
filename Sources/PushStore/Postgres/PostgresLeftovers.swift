// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Removes from a shard the registrations and subscriptions whose app or channel was removed.
///
/// The removal of an app or channel is a transaction in the shard with the control data. The node then removes the rows
/// in the other shards. The next sweep of each shard removes them if the node stops before that, or if a move of slots
/// copies such rows meanwhile.
final class PostgresLeftovers {
    private static let channelsPerStepCountMax = 1000

    private let transaction: StoreTransaction
    private let registrations: RegistrationExecutor
    private let subscriptions: SubscriptionTable
    private let topics: TopicTable
    private let selectTopics: any SQLStatement
    private let selectChannels: any SQLStatement
    private let selectMissing: any SQLStatement
    private var lastChannel = Int64.min

    /// Prepares the statements.
    ///
    /// - Parameters:
    ///   - database: The connection to the tables of devices.
    ///   - control: The connection to the control data.
    ///   - tables: The tables of both connections.
    ///   - transaction: Collects the events of the removals.
    ///   - registrations: Ends the registrations.
    /// - Throws: The error that PostgreSQL returned.
    init(
        _ database: any SQLDatabase, control: any SQLDatabase, _ tables: SharedTables,
        _ transaction: StoreTransaction, _ registrations: RegistrationExecutor
    ) throws(SQLError) {
        self.transaction = transaction
        self.registrations = registrations
        subscriptions = tables.subscriptions
        topics = tables.topics
        // Each step of the recursion finds the next value in the index.
        selectTopics = try database.prepare(
            """
            WITH RECURSIVE found(topic) AS (
                SELECT min(topic) FROM registrations WHERE live = 1 UNION ALL
                SELECT (SELECT min(topic) FROM registrations WHERE live = 1 AND topic > found.topic)
                FROM found WHERE topic IS NOT NULL)
            SELECT topic FROM found WHERE topic IS NOT NULL
            """)
        selectChannels = try database.prepare(
            """
            WITH RECURSIVE found(channel) AS (
                SELECT min(channel) FROM subscriptions WHERE channel > ?1 UNION ALL
                SELECT (SELECT min(channel) FROM subscriptions WHERE channel > found.channel)
                FROM found WHERE channel IS NOT NULL)
            SELECT CAST(array_agg(channel) AS text), max(channel), count(channel)
            FROM (SELECT channel FROM found WHERE channel IS NOT NULL LIMIT ?2) AS page
            """)
        selectMissing = try control.prepare(
            """
            SELECT channel FROM unnest(CAST(CAST(? AS text) AS bigint[])) AS u(channel)
            WHERE NOT EXISTS (SELECT 1 FROM channels WHERE number = channel)
            """)
    }

    /// Ends some registrations of an app, in a transaction; returns true when none is left.
    func removeSome(of topic: TopicID) throws(SQLError) -> Bool { try registrations.endSome(of: topic) }

    /// Removes some subscriptions to a channel, in a transaction; returns true when none is left.
    func removeSome(of channel: ChannelNumber) throws(SQLError) -> Bool {
        let countMax = WriterLimits.rowsChangedPerStepCountMax
        let ended = try subscriptions.removeSome(of: channel, countMax: countMax)
        transaction.note(ended)
        return ended.count < countMax
    }

    /// Makes the next step of a sweep; returns whether another one follows.
    func removeSome(_ commit: PostgresSchema.Transaction) throws(SQLError) -> Bool {
        // The registrations are read before the apps. So no app is missing that was added before its registration.
        var found: [TopicID] = []
        while try selectTopics.step() { found.append(TopicID(stored: selectTopics.int64(0))) }
        let live = Set(try topics.all().map(\.topic.id))
        for topic in found where !live.contains(topic) {
            var isDone = false
            while !isDone { try commit { () throws(SQLError) in isDone = try removeSome(of: topic) } }
        }
        return try removeChannels(commit)
    }

    private func removeChannels(_ commit: PostgresSchema.Transaction) throws(SQLError) -> Bool {
        selectChannels.bind(lastChannel, at: 1)
        selectChannels.bind(Int64(Self.channelsPerStepCountMax), at: 2)
        defer { selectChannels.reset() }
        guard try selectChannels.step(), let channels = selectChannels.optionalString(0) else {
            lastChannel = .min
            return false
        }
        selectMissing.bind(channels, at: 1)
        var missing: [ChannelNumber] = []
        while try selectMissing.step() { missing.append(ChannelNumber(rawValue: selectMissing.int64(0))) }
        for channel in missing {
            var isDone = false
            while !isDone { try commit { () throws(SQLError) in isDone = try removeSome(of: channel) } }
        }
        lastChannel = selectChannels.int64(1)
        return true
    }
}
