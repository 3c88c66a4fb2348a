// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Executes the requests of administrators and providers about channels.
final class ChannelExecutor {
    private let topics: TopicTable
    private let channels: ChannelTable
    private let subscriptions: SubscriptionTable
    private let broadcasts: BroadcastTable
    private let transaction: StoreTransaction
    private let channelPerAppCountMax: Int

    init(_ tables: SharedTables, _ transaction: StoreTransaction, channelPerAppCountMax: Int) {
        topics = tables.topics
        channels = tables.channels
        subscriptions = tables.subscriptions
        broadcasts = tables.broadcasts
        self.transaction = transaction
        self.channelPerAppCountMax = channelPerAppCountMax
    }

    func create(
        _ id: ChannelID, _ topicName: TopicName, _ environment: Environment, _ policy: MessageStoragePolicy
    ) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        guard topic.allowsBroadcasts else { return .failure(.broadcastsNotAllowed) }
        guard try channels.find(id) == nil else { return .failure(.alreadyExists) }
        guard try !channels.hasReached(channelPerAppCountMax, of: topic.id, in: environment) else {
            return .failure(.tooMany)
        }
        try channels.add(id, topic: topic.id, environment: environment, policy: policy, now: transaction.now)
        return .success(.done)
    }

    func channel(
        _ id: ChannelID, _ topicName: TopicName, _ environment: Environment
    ) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        guard let row = try find(id, topic.id, environment) else { return .failure(.unknownChannel) }
        return .memoryQuery(.channel(description(of: row, topicName)))
    }

    func channels(
        _ topicName: TopicName, _ environment: Environment?
    ) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        let read = { [unowned self] (after: Int64?, countMax: Int) throws(SQLError) in
            let page = try channels.page(of: topic.id, after: after ?? .min, countMax: countMax)
            var list = ListPage<StoreEvent.ChannelDescription, Int64>(next: page.next)
            for row in page.rows where environment == nil || row.environment == environment {
                list.rows.append(description(of: row, topicName))
            }
            return list
        }
        return .unfinished(Listing(read: read) { .memoryQuery(.channels($0.rows)) })
    }

    /// Removes a channel: stops its deliveries immediately and ends its subscriptions.
    func remove(
        _ id: ChannelID, _ topicName: TopicName, _ environment: Environment
    ) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        guard try find(id, topic.id, environment) != nil else { return .failure(.unknownChannel) }
        return .unfinished(
            Removal { [unowned self] () throws(SQLError) in
                // The app may have been removed since the last step, and the channel with it.
                guard let row = try find(id, topic.id, environment) else { return .success(true) }
                return .success(try removeSome(of: row))
            })
    }

    /// Removes all channels of an app, of both environments.
    func removeAll(of topic: TopicID) throws(SQLError) {
        transaction.note(try broadcasts.removeAll(of: topic), .unregistered)
        try subscriptions.removeAll(of: topic)
        transaction.add(.stream(.dropUndeliveredOfChannels(topic)))
        for number in try channels.removeAll(of: topic) { transaction.add(.count(.channelRemoved(number))) }
    }

    /// Returns a channel of an app in an environment; nil if another app or environment has it.
    func find(
        _ id: ChannelID, _ topic: TopicID, _ environment: Environment
    ) throws(SQLError) -> ChannelTable.Row? {
        guard let row = try channels.find(id), row.topic == topic, row.environment == environment else { return nil }
        return row
    }

    /// Returns the description of a channel without the count of subscriptions, which is in memory.
    private func description(of row: ChannelTable.Row, _ topicName: TopicName) -> StoreEvent.ChannelDescription {
        StoreEvent.ChannelDescription(
            number: row.number,
            channel: AdminAPI.Channel(
                channelID: row.id.text, topic: topicName, environment: row.environment,
                messageStoragePolicy: row.policy, createdAt: row.createdAt, subscriptionCount: 0))
    }

    // MARK: Removal in steps

    /// Removes some subscriptions of a channel, and the channel with the last of them.
    ///
    /// - Parameter row: The channel.
    /// - Returns: Whether the channel is removed.
    /// - Throws: The error that the engine returned.
    func removeSome(of row: ChannelTable.Row) throws(SQLError) -> Bool {
        let countMax = WriterLimits.rowsChangedPerStepCountMax
        let ended = try subscriptions.removeSome(of: row.number, countMax: countMax)
        transaction.note(ended)
        guard ended.count < countMax else { return false }
        transaction.note(try broadcasts.remove(of: row.number), .unregistered)
        try channels.remove(row.number)
        transaction.add(.stream(.dropUndeliveredOfChannel(row.id, on: nil)))
        transaction.add(.count(.channelRemoved(row.number)))
        return true
    }

    /// Removes some rows of an app's channels, of both environments; returns true when no channel is left.
    func removeSome(of topic: TopicID) throws(SQLError) -> Bool {
        for row in try channels.page(of: topic, after: .min, countMax: 1).rows {
            _ = try removeSome(of: row)
            return false
        }
        // A page leaves out damaged rows, so remove what is left without reading it.
        try removeAll(of: topic)
        return true
    }
}
