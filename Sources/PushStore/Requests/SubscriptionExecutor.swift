// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Executes the requests of devices about their subscriptions to channels.
final class SubscriptionExecutor {
    private let topics: TopicTable
    private let channelRows: ChannelTable
    private let registrations: RegistrationTable
    private let subscriptions: SubscriptionTable
    private let transaction: StoreTransaction
    private let numbers: any NotificationNumbers
    private let channels: ChannelExecutor

    init(
        _ tables: SharedTables, _ transaction: StoreTransaction, _ numbers: any NotificationNumbers,
        _ channels: ChannelExecutor
    ) {
        topics = tables.topics
        channelRows = tables.channels
        registrations = tables.registrations
        subscriptions = tables.subscriptions
        self.transaction = transaction
        self.numbers = numbers
        self.channels = channels
    }

    /// Subscribes an app to a channel; earlier broadcasts are skipped.
    func subscribe(
        _ device: DeviceID, _ topicName: TopicName, _ channel: ChannelID
    ) throws(SQLError) -> RequestResult {
        guard let (topic, registration) = try registration(of: topicName, on: device) else {
            return .failure(.unknownTopic)
        }
        guard let environment = try registrations.environment(device: device, topic: topic),
            let row = try channels.find(channel, topic, environment)
        else { return .failure(.unknownChannel) }
        guard try !subscriptions.contains(device, topic, row.number) else { return .success(.done) }
        guard try subscriptions.count(of: device, topic: topic) < Limits.subscriptionPerAppCountMax else {
            return .failure(.tooMany)
        }
        try subscriptions.add(device, topic, row.number, since: numbers.last)
        let token = DeviceTokenContents(device: device, topic: topic, generation: registration.generation)
        let subscription = ChannelSubscription(channel: row.number, token: token)
        transaction.add(.count(.subscribed(row.number, registration.isRefused ? nil : subscription)))
        return .success(.done)
    }

    /// Ends a subscription; succeeds without one.
    func unsubscribe(
        _ device: DeviceID, _ topicName: TopicName, _ channel: ChannelID
    ) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic.id, let row = try channelRows.find(channel),
            let ended = try subscriptions.remove(device, topic, row.number)
        else { return .success(.done) }
        transaction.note([ended])
        transaction.add(.stream(.dropUndeliveredOfChannel(channel, on: device)))
        return .success(.done)
    }

    func subscriptions(
        _ device: DeviceID, _ topicName: TopicName
    ) throws(SQLError) -> RequestResult {
        guard let (topic, _) = try registration(of: topicName, on: device) else { return .failure(.unknownTopic) }
        let read = { [subscriptions, channelRows] (after: Int64?, countMax: Int) throws(SQLError) in
            let page = try subscriptions.page(of: device, topic: topic, after: after ?? .min, countMax: countMax)
            var list = ListPage<(channel: ChannelID, position: Int64), Int64>(next: page.next)
            for (number, position) in page.rows {
                if let channel = try channelRows.id(of: number) { list.rows.append((channel, position)) }
            }
            return list
        }
        return .unfinished(
            Listing(read: read) { list in
                // The list is ordered by channel number, which an index provides; the answer is in the order of
                // subscribing.
                let channels = list.rows.sorted { $0.position < $1.position }.map(\.channel)
                return .success(.subscriptions(channels))
            })
    }

    private func registration(
        of topicName: TopicName, on device: DeviceID
    ) throws(SQLError) -> (TopicID, RegistrationTable.Row)? {
        guard let topic = try topics.find(topicName)?.topic.id,
            let registration = try registrations.find(device: device.stored, topic: topic), registration.isLive
        else { return nil }
        return (topic, registration)
    }
}
