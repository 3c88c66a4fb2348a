// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Begins and ends the registrations of apps on devices.
final class RegistrationExecutor {
    private let topics: TopicTable
    private let registrations: RegistrationTable
    private let subscriptions: SubscriptionTable
    private let transaction: StoreTransaction
    private let waiting: any WaitingNotifications

    init(
        _ tables: SharedTables, _ transaction: StoreTransaction, _ waiting: any WaitingNotifications
    ) {
        topics = tables.topics
        registrations = tables.registrations
        subscriptions = tables.subscriptions
        self.transaction = transaction
        self.waiting = waiting
    }

    func register(
        _ device: DeviceID, _ topicName: TopicName, _ environment: Environment
    ) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic else { return .failure(.unknownTopic) }
        let earlier = try registrations.find(device: device.stored, topic: topic.id)
        if let earlier, earlier.isLive {
            if try registrations.environment(device: device, topic: topic.id) == environment {
                let contents = DeviceTokenContents(
                    device: device, topic: topic.id, generation: earlier.generation)
                return .success(.registered(contents))
            }
            guard earlier.generation != .max else { return .failure(.tooMany) }
            _ = try end(device, topic.id)
        }
        guard try registrations.liveCount(of: device) < Limits.registrationPerDeviceCountMax,
            earlier?.generation != .max
        else { return .failure(.tooMany) }
        let contents = DeviceTokenContents(
            device: device, topic: topic.id, generation: (earlier?.generation ?? 0) + 1)
        let isRefused = try registrations.isRefused(topicName, by: device)
        try registrations.register(contents, in: environment, isRefused: isRefused, now: transaction.now)
        transaction.add(.count(.registrationsChanged(device)))
        transaction.add(.count(.registrationBegan(topic.id)))
        // A registration for the other environment has ended the earlier one.
        return earlier?.isLive == true
            ? .successAfterDeliveries(.registered(contents)) : .success(.registered(contents))
    }

    /// Ends a registration; succeeds without one, for example after the app was removed.
    func unregister(_ device: DeviceID, _ topicName: TopicName) throws(SQLError) -> RequestResult {
        guard let topic = try topics.find(topicName)?.topic.id,
            try registrations.find(device: device.stored, topic: topic)?.isLive == true
        else { return .success(.done) }
        _ = try end(device, topic)
        return .success(.done)
    }

    /// Ends a live registration, with its subscriptions and its queue; returns the number of changed rows.
    func end(_ device: DeviceID, _ topic: TopicID, asExpired: Bool = false) throws(SQLError) -> Int {
        try registrations.end(device: device, topic: topic, asExpired: asExpired, now: transaction.now)
        let removed = try waiting.remove(of: device, topic: topic)
        let subscribed = try subscriptions.removeAll(of: device, topic: topic)
        transaction.note(removed, .unregistered)
        transaction.note(subscribed)
        transaction.add(.stream(.dropUndelivered(topic, on: device)))
        transaction.add(.count(.registrationsChanged(device)))
        transaction.add(.count(.registrationEnded(topic)))
        return 1 + removed.count + subscribed.count
    }

    /// Ends all registrations of a device, with their subscriptions and queues; returns the number of changed rows.
    func endAll(of device: DeviceID, asExpired: Bool) throws(SQLError) -> Int {
        let topics = try registrations.endAll(of: device, asExpired: asExpired, now: transaction.now)
        let removed = try waiting.remove(of: device, topic: nil)
        let subscribed = try subscriptions.removeAll(of: device)
        transaction.note(removed, .unregistered)
        transaction.note(subscribed)
        transaction.add(.count(.registrationsChanged(device)))
        for topic in topics {
            transaction.add(.stream(.dropUndelivered(topic, on: device)))
            transaction.add(.count(.registrationEnded(topic)))
        }
        return topics.count + removed.count + subscribed.count
    }

    /// Ends some registrations of an app; returns true when none is left.
    func endSome(of topic: TopicID) throws(SQLError) -> Bool {
        var rowCount = 0
        for device in try registrations.someDevices(of: topic, countMax: WriterLimits.rowsChangedPerStepCountMax / 4) {
            rowCount += try end(device, topic)
            if rowCount >= WriterLimits.rowsChangedPerStepCountMax { return false }
        }
        return rowCount == 0
    }

    /// Ends some registrations of a device; returns true when none is left.
    func endSome(of device: DeviceID, asExpired: Bool) throws(SQLError) -> Bool {
        let countMax = WriterLimits.rowsChangedPerStepCountMax
        for topic in try registrations.someTopics(of: device, countMax: 1) {
            let ended = try subscriptions.removeSome(of: device, topic: topic, countMax: countMax)
            transaction.note(ended)
            if ended.count < countMax { _ = try end(device, topic, asExpired: asExpired) }
            return false
        }
        return true
    }
}
