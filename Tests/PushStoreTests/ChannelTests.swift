// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct ChannelTests {
    private let store: any RequestTarget
    private let station: Station

    init() throws {
        store = try StoreEngine.open { $0.channelPerAppCountMax = 3 }
        station = try Station(store)
    }

    private func create(
        _ number: UInt64, _ topic: TopicName = Station.topic, _ environment: Environment = .production
    ) -> StoreRequest {
        .control(
            .createChannel(
                ChannelID(high: .max, low: number), topic: topic, environment: environment, policy: .noMessageStored))
    }

    // MARK: Channels

    @Test func `a channel is returned as it was created, also after a restart`() throws {
        store.clock.now += 1999
        let channel = try station.channel(7, .noMessageStored, environment: .development)
        let request = StoreRequest.control(.channel(channel.id, topic: Station.topic, environment: .development))
        for _ in 0..<2 {
            guard case .channel(let read) = try store.succeed(request) else { throw MissingReply(what: "channel") }
            #expect(read.channelID == channel.id.text)
            #expect(read.topic == Station.topic)
            #expect(read.environment == .development)
            #expect(read.messageStoragePolicy == .noMessageStored)
            #expect(read.createdAt.unixSeconds == 1_800_000_001)
            #expect(read.subscriptionCount == 0)
            try store.reopen()
        }
    }

    @Test func `channels of one environment or of both are listed oldest first`() throws {
        let ids = try [
            station.channel(9), station.channel(1, environment: .development), station.channel(5),
        ].map(\.id.text)
        #expect(try store.channels().map(\.channelID) == ids)
        #expect(try store.channels(Station.topic, .production).map(\.channelID) == [ids[0], ids[2]])
        #expect(try store.channels(Station.topic, .development).map(\.channelID) == [ids[1]])
    }

    @Test func `a channel ID is unique across apps and environments`() throws {
        try store.addBroadcastApp("other")
        _ = try station.channel(1)
        #expect(try store.refusal(create(1)) == .alreadyExists)
        #expect(try store.refusal(create(1, Station.topic, .development)) == .alreadyExists)
        #expect(try store.refusal(create(1, "other")) == .alreadyExists)
    }

    @Test func `a channel cannot be created for an unknown app or for one without broadcasts`() throws {
        try store.addApp("quiet")
        #expect(try store.refusal(create(1, "none")) == .unknownTopic)
        #expect(try store.refusal(create(1, "quiet")) == .broadcastsNotAllowed)
        #expect(try store.channels("quiet").isEmpty)
        #expect(try store.refusal(.control(.channels(topic: "none", environment: nil))) == .unknownTopic)
    }

    @Test func `each app has a limit of channels in each environment, and removing a channel makes room`() throws {
        try store.addBroadcastApp("other")
        for number in UInt64(1)...3 { try store.succeed(create(number)) }
        #expect(try store.refusal(create(4)) == .tooMany)
        #expect(try store.refusal(create(4, Station.topic, .development)) == nil)
        #expect(try store.refusal(create(5, "other")) == nil)
        let first = ChannelID(high: .max, low: 1)
        try store.succeed(.control(.removeChannel(first, topic: Station.topic, environment: .production)))
        #expect(try store.refusal(create(6)) == nil)
        #expect(try store.refusal(create(7)) == .tooMany)
    }

    @Test(arguments: [(Station.topic, Environment.development), ("other", .production)])
    func `a channel of another app or environment is unknown and cannot be removed`(
        topic: TopicName, environment: Environment
    ) throws {
        try store.addBroadcastApp("other")
        let channel = try station.subscribedChannel()
        #expect(
            try store.refusal(.control(.channel(channel.id, topic: topic, environment: environment))) == .unknownChannel
        )
        #expect(
            try store.refusal(.control(.removeChannel(channel.id, topic: topic, environment: environment)))
                == .unknownChannel)
        #expect(try store.channels().map(\.subscriptionCount) == [1])
    }

    @Test func `a removed channel is unknown, and its subscriptions are removed`() throws {
        let (gone, kept) = (try station.subscribedChannel(1), try station.subscribedChannel(2))
        try store.publish(.to(gone, "a"))
        let request = StoreRequest.control(.removeChannel(gone.id, topic: Station.topic, environment: .production))
        try store.succeed(request)
        #expect(try store.refusal(request) == .unknownChannel)
        #expect(try store.subscriptions(station.device) == [kept.id])
        #expect(try store.publish(.to(gone, "b")) == .refused(.channelNotRegistered, ended: nil))
        #expect(try store.waiting(station.device) == [])
        #expect(try store.counts().unregistered == 1)
        #expect(try store.counts().pending == 0)
    }

    // MARK: Subscriptions

    @Test func `subscriptions are listed once each, in the order of subscribing`() throws {
        let channels = try [3, 1, 2].map { try station.channel($0) }
        for channel in channels + [channels[0]] { try store.subscribe(station.device, to: channel) }
        #expect(try store.subscriptions(station.device) == channels.map(\.id))
        try store.unsubscribe(station.device, from: channels[0])
        try store.unsubscribe(station.device, from: channels[0])
        try store.subscribe(station.device, to: channels[0])
        try store.reopen()
        #expect(try store.subscriptions(station.device) == [channels[1], channels[2], channels[0]].map(\.id))
    }

    @Test func `a channel counts its subscriptions, also after a restart`() throws {
        let (first, second) = (try station.channel(1), try station.channel(2))
        let others = try [2, 3, 4].map { try station.another($0) }
        for device in others { try store.subscribe(device, to: first) }
        try store.subscribe(station.device, to: second)
        try store.unsubscribe(others[0], from: first)
        try store.succeed(.device(.remove, by: others[1].credential))
        for _ in 0..<2 {
            #expect(try store.channels().map(\.subscriptionCount) == [1, 1])
            try store.reopen()
        }
    }

    @Test func `only an app that is registered in the channel's environment can subscribe`() throws {
        try store.addBroadcastApp("other")
        let channel = try station.channel(1)
        let foreign = try station.channel(2, environment: .development)
        func refusal(_ device: TestDevice, _ topic: TopicName, _ channel: ChannelID) throws -> StoreRefusal? {
            try store.refusal(.device(.subscribe(topic: topic, channel: channel), by: device.credential))
        }
        #expect(try refusal(TestDevice(number: 9), Station.topic, channel.id) == .unauthorized)
        #expect(try refusal(station.device, "other", channel.id) == .unknownTopic)
        #expect(try refusal(station.device, "none", channel.id) == .unknownTopic)
        #expect(try refusal(station.device, Station.topic, foreign.id) == .unknownChannel)
        #expect(try refusal(station.device, Station.topic, ChannelID(high: 0, low: 0)) == .unknownChannel)
        try store.register(station.device, "other")
        #expect(try refusal(station.device, "other", channel.id) == .unknownChannel)
        try store.succeed(.device(.unregister(topic: Station.topic), by: station.device.credential))
        #expect(try refusal(station.device, Station.topic, channel.id) == .unknownTopic)
    }

    @Test func `unsubscribing without a subscription succeeds`() throws {
        let channel = try station.channel(1)
        for topic in ["none", Station.topic] {
            let request = DeviceRequest.unsubscribe(topic: topic, channel: channel.id)
            #expect(try store.refusal(.device(request, by: station.device.credential)) == nil)
        }
        let unknown = TestDevice(number: 9).credential
        #expect(
            try store.refusal(.device(.unsubscribe(topic: Station.topic, channel: channel.id), by: unknown))
                == .unauthorized)
        #expect(try store.refusal(.device(.subscriptions(topic: Station.topic), by: unknown)) == .unauthorized)
        #expect(
            try store.refusal(.device(.subscriptions(topic: "none"), by: station.device.credential)) == .unknownTopic)
    }

    // MARK: End of subscriptions

    @Test(arguments: [
        StoreRequest.device(.unregister(topic: Station.topic), by: TestDevice(number: 1).credential),
        .device(
            .register(topic: Station.topic, environment: .development), by: TestDevice(number: 1).credential),
        .device(.remove, by: TestDevice(number: 1).credential), .administer(DeviceID(rawValue: 1), .remove),
        .administer(DeviceID(rawValue: 1), .expire),
    ])
    func `the end of a registration removes its subscriptions permanently`(request: StoreRequest) throws {
        let channel = try station.subscribedChannel()
        try store.succeed(request)
        #expect(try store.channels().map(\.subscriptionCount) == [0])
        if try store.refusal(.administer(station.device.id, .describe)) == nil {
            try store.register(station.device)
            #expect(try store.subscriptions(station.device) == [])
        }
        #expect(try store.publish(.to(channel, "a")) == .accepted)
        try store.reopen()
        #expect(try store.channels().map(\.subscriptionCount) == [0])
    }

    @Test(arguments: [
        ControlRequest.removeApp(topic: Station.topic),
        .changeApp(topic: Station.topic, name: nil, checks: nil, allowsBroadcasts: false),
    ])
    func `removing an app or its broadcasts removes its channels in all environments`(request: ControlRequest) throws {
        try store.addBroadcastApp("other")
        let (first, second) = (try station.subscribedChannel(1), try station.subscribedChannel(2))
        _ = try station.channel(3, environment: .development)
        let stays = ChannelID(high: 0, low: 0)
        try store.succeed(
            .control(.createChannel(stays, topic: "other", environment: .production, policy: .noMessageStored)))
        for (channel, text) in [(first, "a"), (second, "b")] { try store.publish(.to(channel, text)) }
        try store.succeed(.control(request))
        #expect(try store.publish(.to(first, "c")) == .refused(.channelNotRegistered, ended: nil))
        #expect(try store.counts().unregistered == 2)
        #expect(try store.counts().pending == 0)
        if case .changeApp = request {
            #expect(try store.channels().isEmpty)
            #expect(try store.subscriptions(station.device) == [])
            #expect(try store.refusal(create(9)) == .broadcastsNotAllowed)
        }
        #expect(try store.channels("other").map(\.channelID) == [stays.text])
    }
}
