// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
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
        let read = { [unowned self] (after: Int64?, countMax: Int) throws(SQLiteError) in
            let page = try channels.page(of: topic.id, after: after ?? .min, countMax: countMax)
            var list = ListPage<StoreEvent.ChannelDescription, Int64>(next: page.next)
            for row in page.rows where environment == nil || row.environment == environment {
                list.rows.append(description(of: row, topicName))
            }
            return list
        }
        return begin(Listing(read: read) { .question(.channels($0.rows, answer: answer)) })
    }

    /// Removes a channel: stops its deliveries immediately and ends its subscriptions.
    func removeChannel(
        _ id: ChannelID, _ topicName: String, _ environment: Environment, _ answer: ReplyAddress
    ) throws(SQLiteError) -> Verdict? {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        guard try find(id, topic.id, environment) != nil else { return .failure(.unknownChannel) }
        return begin(
            Removal(answer) { [unowned self] () throws(SQLiteError) in
                // The app may have been removed since the last step, and the channel with it.
                guard let row = try find(id, topic.id, environment) else { return .success(true) }
                return .success(try removeSome(of: row))
            })
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

    /// Returns the description of a channel without the count of subscriptions, which is in memory.
    private func description(of row: ChannelTable.Row, _ topicName: String) -> StoreEvent.ChannelDescription {
        StoreEvent.ChannelDescription(
            number: row.number,
            channel: AdminAPI.Channel(
                channelID: row.id.text, topic: topicName, environment: row.environment,
                messageStoragePolicy: row.policy, createdAt: row.createdUnixMilliseconds.unixSeconds,
                subscriptionCount: 0))
    }

    // MARK: Subscriptions

    /// Subscribes an app to a channel; earlier broadcasts are skipped.
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

    /// Ends a subscription; succeeds without one.
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

    func subscriptions(
        _ secretHash: [UInt8], _ topicName: String, _ answer: ReplyAddress
    ) throws(SQLiteError) -> Verdict? {
        guard let device = try identify(secretHash) else { return .failure(.unauthorized) }
        guard let (topic, _) = try registration(of: topicName, on: device) else { return .failure(.unknownTopic) }
        let read = { [subscriptions] (after: Int64?, countMax: Int) throws(SQLiteError) in
            try subscriptions.page(of: device, topic: topic, after: after ?? .min, countMax: countMax)
        }
        return begin(
            Listing(read: read) { list in
                // The list is ordered by channel number, which an index provides; the answer is in the order of
                // subscribing.
                let channels = list.rows.sorted { $0.position < $1.position }.map(\.channel)
                return .success(.subscriptions(channels), to: answer)
            })
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
