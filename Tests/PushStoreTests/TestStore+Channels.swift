// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

/// A channel of a test, with the number of its app.
struct TestChannel {
    var id: ChannelID
    var topic: TopicID
    var environment = Environment.production
}

/// A test fixture: an app with broadcasts, one registered device, and channels.
struct Station {
    static let topic: TopicName = "com.example.App"

    let store: any RequestTarget
    let device: TestDevice
    let token: DeviceTokenContents

    init(_ store: any RequestTarget) throws {
        self.store = store
        try store.addBroadcastApp()
        device = try store.enrol()
        token = try store.register(device)
    }

    /// Creates a channel of the app.
    func channel(
        _ number: UInt64 = 1, _ policy: MessageStoragePolicy = .mostRecentMessageStored,
        environment: Environment = .production
    ) throws -> TestChannel {
        let id = ChannelID(high: .max, low: number)
        try store.succeed(.control(.createChannel(id, topic: Self.topic, environment: environment, policy: policy)))
        return TestChannel(id: id, topic: token.topic, environment: environment)
    }

    /// Creates a channel and subscribes the device to it.
    func subscribedChannel(
        _ number: UInt64 = 1, _ policy: MessageStoragePolicy = .mostRecentMessageStored
    ) throws -> TestChannel {
        let channel = try channel(number, policy)
        try store.subscribe(device, to: channel)
        return channel
    }

    /// Enrols another device and registers the app on it.
    func another(_ number: UInt64) throws -> TestDevice {
        let device = try store.enrol(number)
        try store.register(device)
        return device
    }
}

extension RequestTarget {
    /// Adds an app that may have channels.
    func addBroadcastApp(_ topic: TopicName = Station.topic) throws {
        try succeed(.control(.addApp(topic: topic, name: "App", teamID: "TEAM000000", allowsBroadcasts: true)))
    }

    /// Subscribes a device's app to a channel.
    func subscribe(_ device: TestDevice, to channel: TestChannel, _ topic: TopicName = Station.topic) throws {
        try succeed(.device(.subscribe(topic: topic, channel: channel.id), by: device.credential))
    }

    /// Ends the subscription of a device's app.
    func unsubscribe(_ device: TestDevice, from channel: TestChannel, _ topic: TopicName = Station.topic) throws {
        try succeed(.device(.unsubscribe(topic: topic, channel: channel.id), by: device.credential))
    }

    /// Returns the channels that a device's app subscribes to.
    func subscriptions(_ device: TestDevice, _ topic: TopicName = Station.topic) throws -> [ChannelID] {
        guard
            case .subscriptions(let channels) = try succeed(
                .device(.subscriptions(topic: topic), by: device.credential))
        else { throw MissingReply(what: "subscriptions") }
        return channels
    }

    /// Returns the administrator's view of an app's channels.
    func channels(_ topic: TopicName = Station.topic, _ environment: Environment? = nil) throws -> [AdminAPI.Channel] {
        guard case .channels(let channels) = try succeed(.control(.channels(topic: topic, environment: environment)))
        else {
            throw MissingReply(what: "channels")
        }
        return channels
    }

    /// Returns the administrator's view of a device.
    func device(_ device: TestDevice) throws -> AdminAPI.Device {
        guard case .device(let device) = try succeed(.administer(device.id, .describe)) else {
            throw MissingReply(what: "device")
        }
        return device
    }
}

extension StreamTarget {
    /// Publishes broadcasts in one batch; returns the results and all replies.
    func publish(_ broadcasts: [Broadcast]) throws -> ([Acceptance], [StoreReply]) {
        let answers = broadcasts.map { _ in address() }
        let replies = try run(zip(broadcasts, answers).map { .publish($0, answer: $1) })
        return (try answers.map { try replies.acceptance(at: $0) }, replies)
    }

    @discardableResult
    func publish(_ broadcast: Broadcast) throws -> Acceptance { try publish([broadcast]).0[0] }
}

extension [StoreReply] {
    /// Returns the answer to a notification or broadcast that was sent with an address.
    func acceptance(at answer: ReplyAddress) throws -> Acceptance {
        for reply in self {
            if case .accepted(answer) = reply { return .accepted }
            if case .refused(let reason, let ended, answer) = reply {
                return .refused(reason, ended: ended?.unixMilliseconds)
            }
        }
        throw MissingReply(what: "accepted or refused at \(answer)")
    }

    /// Returns the texts that were delivered to a stream, in order.
    func texts(to stream: ReplyAddress) -> [String] { delivered(to: stream).map(\.text) }
}

extension Broadcast {
    /// Creates a broadcast with a text as its payload, which by default expires late enough to be stored.
    static func to(
        _ channel: TestChannel, _ text: String,
        expiration: Int64 = TestStore.startMilliseconds / 1000 + 1_000_000,
        accepted: Int64 = TestStore.startMilliseconds
    ) -> Broadcast {
        Broadcast(
            channel: channel.id, topic: channel.topic, environment: channel.environment,
            requestID: Array("request of \(text)".utf8), uniqueID: UniqueID(high: 2, low: .max),
            suffixedTopic: "\(Station.topic).push-type.liveactivity", priority: 5,
            expiration: Timestamp(unixSeconds: expiration),
            payload: Array(text.utf8), acceptedAt: Timestamp(unixMilliseconds: accepted))
    }
}
