// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQLite

extension Executor {
    // MARK: Channels

    func createChannel(
        _ id: ChannelID, _ topicName: String, _ environment: Environment, _ policy: MessageStoragePolicy
    ) throws(SQLiteError) -> Verdict {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        guard topic.allowsBroadcasts else { return .failure(.broadcastsNotAllowed) }
        guard try channels.find(id) == nil else { return .failure(.alreadyExists) }
        guard try !channels.hasReached(bounds.channelPerAppCountMax, of: topic.id, in: environment) else {
            return .failure(.tooMany)
        }
        try channels.add(id, topic: topic.id, environment: environment, policy: policy, now: now)
        return .success(.done)
    }

    func channel(
        _ id: ChannelID, _ topicName: String, _ environment: Environment, _ answer: ReplyAddress
    ) throws(SQLiteError) -> Verdict? {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        guard let row = try find(id, topic.id, environment) else { return .failure(.unknownChannel) }
        events.append(.question(.channel(description(of: row, topicName), answer: answer)))
        return nil
    }

    func channels(
        _ topicName: String, _ environment: Environment?, _ answer: ReplyAddress
    ) throws(SQLiteError) -> Verdict? {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        let list = try channels.all(of: topic.id, in: environment).map { description(of: $0, topicName) }
        events.append(.question(.channels(list, answer: answer)))
        return nil
    }

    /// Removes a channel: nothing of it is delivered from now, and its subscriptions end.
    func removeChannel(
        _ id: ChannelID, _ topicName: String, _ environment: Environment
    ) throws(SQLiteError) -> Verdict {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        guard let row = try find(id, topic.id, environment) else { return .failure(.unknownChannel) }
        note(try broadcasts.remove(of: row.number), .unregistered)
        try subscriptions.removeAll(of: row.number)
        try channels.remove(row.number)
        events.append(.stream(.silenceChannel(id, on: nil)))
        events.append(.holding(.channelRemoved(row.number)))
        return .success(.done)
    }

    /// Removes all channels of an app, of both environments.
    func removeChannels(of topic: TopicID) throws(SQLiteError) {
        note(try broadcasts.removeAll(of: topic), .unregistered)
        try subscriptions.removeAll(of: topic)
        events.append(.stream(.silenceChannels(topic)))
        for number in try channels.removeAll(of: topic) { events.append(.holding(.channelRemoved(number))) }
    }

    private func find(
        _ id: ChannelID, _ topic: TopicID, _ environment: Environment
    ) throws(SQLiteError) -> ChannelTable.Row? {
        guard let row = try channels.find(id), row.topic == topic, row.environment == environment else { return nil }
        return row
    }

    /// All but the count of subscriptions, which is in memory.
    private func description(of row: ChannelTable.Row, _ topicName: String) -> StoreEvent.ChannelDescription {
        StoreEvent.ChannelDescription(
            number: row.number,
            channel: AdminAPI.Channel(
                channelID: row.id.text, topic: topicName, environment: row.environment,
                messageStoragePolicy: row.policy, createdAt: row.createdUnixMilliseconds.unixSeconds,
                subscriptionCount: 0))
    }

    // MARK: Subscriptions

    /// Subscribes an app to a channel; broadcasts from before that are none of its business.
    func subscribe(
        _ secretHash: [UInt8], _ topicName: String, _ channel: ChannelID
    ) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard let (topic, registration) = try registration(of: topicName, on: device) else {
            return .failure(.unknownTopic)
        }
        guard let environment = try registrations.environment(device: device, topic: topic),
            let row = try find(channel, topic, environment)
        else { return .failure(.unknownChannel) }
        guard try !subscriptions.contains(device, topic, row.number) else { return .success(.done) }
        guard try subscriptions.count(of: device, topic: topic) < Limits.subscriptionPerAppCountMax else {
            return .failure(.tooMany)
        }
        try subscriptions.add(device, topic, row.number, since: sequences.last)
        let token = DeviceTokenContents(device: device, topic: topic, generation: registration.generation)
        let listener = SubscriptionTable.Listener(channel: row.number, token: token)
        events.append(.holding(.subscribed(row.number, registration.isRefused ? nil : listener)))
        return .success(.done)
    }

    /// Ends a subscription; without one there is nothing to do.
    func unsubscribe(
        _ secretHash: [UInt8], _ topicName: String, _ channel: ChannelID
    ) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard let topic = try topics.find(topicName)?.topic.id, let row = try channels.find(channel),
            let ended = try subscriptions.remove(device, topic, row.number)
        else { return .success(.done) }
        note([ended])
        events.append(.stream(.silenceChannel(channel, on: device)))
        return .success(.done)
    }

    func subscriptions(_ secretHash: [UInt8], _ topicName: String) throws(SQLiteError) -> Verdict {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard let (topic, _) = try registration(of: topicName, on: device) else { return .failure(.unknownTopic) }
        return .success(.subscriptions(try subscriptions.channels(of: device, topic: topic)))
    }

    private func registration(
        of topicName: String, on device: DeviceID
    ) throws(SQLiteError) -> (TopicID, RegistrationTable.Row)? {
        guard let topic = try topics.find(topicName)?.topic.id,
            let registration = try registrations.find(device: device.stored, topic: topic), registration.isLive
        else { return nil }
        return (topic, registration)
    }
}
