// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct BroadcastTests {
    private let store: any StreamTarget
    private let station: Station
    private let startSeconds = TestStore.startMilliseconds / 1000

    init() throws {
        store = try StoreEngine.openStreams()
        station = try Station(store)
    }

    // MARK: Refusals

    @Test(.bothEngines, .namesEngine)
    func `a channel that is missing, or of another app or environment, is not registered`() throws {
        let channel = try station.channel()
        let strangers = [
            TestChannel(id: ChannelID(high: 0, low: 0), topic: channel.topic),
            TestChannel(id: channel.id, topic: TopicID(rawValue: 9)),
            TestChannel(id: channel.id, topic: channel.topic, environment: .development),
        ]
        for stranger in strangers {
            #expect(try store.publish(.to(stranger, "a")) == .refused(.channelNotRegistered, ended: nil))
        }
        #expect(try store.counts().accepted == 0)
    }

    @Test(
        .bothEngines, .namesEngine,
        arguments: [(Int64.min, false), (-1, false), (0, true), (1, false), (Int64.max, false)])
    func `a channel that stores nothing accepts only the expiration 0`(expiration: Int64, isGood: Bool) throws {
        let channel = try station.channel(1, .noMessageStored)
        let expected = isGood ? Acceptance.accepted : .refused(.badExpirationDate, ended: nil)
        #expect(try store.publish(.to(channel, "a", expiration: expiration)) == expected)
    }

    @Test(.bothEngines, .namesEngine, arguments: [Int64.min, -1, 0, 1, 1_800_000_000, Int64.max])
    func `a channel that stores broadcasts accepts any expiration`(expiration: Int64) throws {
        let channel = try station.subscribedChannel()
        #expect(try store.publish(.to(channel, "a", expiration: expiration)) == .accepted)
        #expect(try store.waiting(station.device) == (expiration >= startSeconds ? ["a"] : []))
    }

    // MARK: Recipients

    @Test(.bothEngines, .namesEngine, arguments: MessageStoragePolicy.allCases)
    func `a broadcast is sent immediately to each connected subscriber only`(policy: MessageStoragePolicy) throws {
        let channel = try station.channel(1, policy)
        let (listener, stranger, absent) = (try station.another(2), try station.another(3), try station.another(4))
        for device in [station.device, listener, absent] { try store.subscribe(device, to: channel) }
        let streams = try [station.device, listener, stranger].map { try store.attach($0).0 }
        let replies = try store.publish([.to(channel, "a", expiration: policy == .noMessageStored ? 0 : .max)]).1
        #expect(streams.map(replies.texts) == [["a"], ["a"], []])
        #expect(try store.waiting(absent) == (policy == .noMessageStored ? [] : ["a"]))
    }

    @Test(.bothEngines, .namesEngine)
    func `a broadcast arrives as a notification to the subscriber's own token`() throws {
        let channel = try station.subscribedChannel()
        let direct = try attachAndPublish(.to(channel, "a"))
        let (stream, replies) = try store.attach(station.device)
        let read = try #require(replies.delivered(to: stream).first)
        for pending in [direct, read] {
            let notification = pending.notification
            #expect(notification.address == station.token)
            #expect(notification.apnsID == Array("request of a".utf8))
            #expect(notification.uniqueID == UniqueID(high: 2, low: .max))
            #expect(notification.suffixedTopic == "com.example.App.push-type.liveactivity")
            #expect(notification.pushType == .liveactivity)
            #expect(notification.priority == 5)
            #expect(notification.expiration == TestStore.start.advanced(bySeconds: 1_000_000))
            #expect(notification.collapseID == nil)
            #expect(notification.payload == Array("a".utf8))
            #expect(notification.acceptedAt == TestStore.start)
            #expect(notification.channel == channel.id)
        }
        #expect(direct.sequence == read.sequence && read.sequence > 0)
    }

    @Test(.bothEngines, .namesEngine)
    func `a broadcast after a new registration is addressed to the new token`() throws {
        try store.succeed(.device(.unregister(topic: Station.topic), by: station.device.credential))
        let token = try store.register(station.device)
        let channel = try station.subscribedChannel()
        #expect(try attachAndPublish(.to(channel, "a")).notification.address == token)
        let (stream, replies) = try store.attach(station.device)
        #expect(replies.delivered(to: stream).map(\.notification.address) == [token])
    }

    @Test(.bothEngines, .namesEngine)
    func `a device that subscribes while connected gets later broadcasts and no earlier ones`() throws {
        let channel = try station.channel()
        try store.publish(.to(channel, "before"))
        let (stream, _) = try store.attach(station.device)
        try store.subscribe(station.device, to: channel)
        #expect(try store.waiting(station.device) == [])
        let (again, _) = try store.attach(station.device)
        #expect(again != stream)
        let replies = try store.publish([.to(channel, "after")]).1
        #expect(replies.texts(to: again) == ["after"])
    }

    @Test func `within one batch a device gets exactly the broadcasts between subscribing and unsubscribing`() throws {
        let channel = try station.channel()
        let (stream, _) = try store.attach(station.device)
        func publish(_ text: String) -> StoreCommand {
            .publish(.to(channel, text, expiration: text == "stored" ? .max : 0), answer: store.address())
        }
        let credential = station.device.credential
        let subscribe = StoreRequest.device(.subscribe(topic: Station.topic, channel: channel.id), by: credential)
        let unsubscribe = StoreRequest.device(.unsubscribe(topic: Station.topic, channel: channel.id), by: credential)
        let during = try store.run([
            publish("1"), .perform(subscribe, answer: store.address()), publish("2"), publish("stored"),
        ])
        #expect(during.texts(to: stream) == ["2", "stored"])
        let after = try store.run([
            publish("3"), publish("stored"), .perform(unsubscribe, answer: store.address()), publish("4"),
        ])
        #expect(after.texts(to: stream) == [], "what was answered with done is followed by nothing")
    }

    // MARK: Storage

    @Test(.bothEngines, .namesEngine)
    func `a stored broadcast is delivered to each subscriber until that subscriber acknowledges it`() throws {
        let channel = try station.subscribedChannel()
        let other = try station.another(2)
        try store.subscribe(other, to: channel)
        try store.publish(.to(channel, "a"))
        let (stream, replies) = try store.attach(station.device)
        let delivered = replies.delivered(to: stream)
        #expect(delivered.map(\.text) == ["a"])
        #expect(try store.waiting(station.device) == ["a"])
        _ = try store.acknowledge(station.device, delivered.map(\.sequence))
        #expect(try store.waiting(station.device) == [])
        try store.reopen()
        #expect(try store.waiting(station.device) == [])
        #expect(try store.waiting(other) == ["a"])
        #expect(try store.counts().pending == 1)
    }

    @Test(.bothEngines, .namesEngine)
    func `a newer broadcast replaces the stored one, even if that was already sent`() throws {
        let channel = try station.subscribedChannel()
        try store.publish(.to(channel, "a"))
        #expect(try store.waiting(station.device) == ["a"])
        try store.publish(.to(channel, "b"))
        #expect(try store.waiting(station.device) == ["b"])
        let counts = try store.counts()
        #expect(counts.accepted == 2 && counts.collapsed == 1 && counts.pending == 1)
    }

    @Test func `only the newest of several stored broadcasts in one batch is sent`() throws {
        let channel = try station.subscribedChannel()
        let (stream, _) = try store.attach(station.device)
        let replies = try store.publish([.to(channel, "a"), .to(channel, "b"), .to(channel, "c")]).1
        #expect(replies.texts(to: stream) == ["c"])
    }

    @Test(arguments: [0, 1] as [Int64])
    func `a now-or-never or expired broadcast does not replace the stored one`(expiration: Int64) throws {
        let channel = try station.subscribedChannel()
        try store.publish(.to(channel, "stored"))
        #expect(try store.publish(.to(channel, "late", expiration: expiration)) == .accepted)
        #expect(try store.waiting(station.device) == ["stored"])
        let counts = try store.counts()
        #expect(counts.expired == 1 && counts.pending == 1 && counts.collapsed == 0)
    }

    @Test(
        .bothEngines, .namesEngine,
        arguments: [
            (60 as Int64, 60 as Int64), (Limits.broadcastStorageSecondsMax - 1, Limits.broadcastStorageSecondsMax - 1),
            (Limits.broadcastStorageSecondsMax + 1, Limits.broadcastStorageSecondsMax),
            (Int64.max - 1_800_000_000, Limits.broadcastStorageSecondsMax),
        ])
    func `a broadcast is stored until it expires, at most eight hours`(expiration: Int64, keptSeconds: Int64) throws {
        let channel = try station.subscribedChannel()
        try store.publish(.to(channel, "a", expiration: startSeconds + expiration))
        store.clock.now += keptSeconds * 1000
        try store.reopen()
        #expect(try store.waiting(station.device) == ["a"])
        store.clock.now += 1
        #expect(try store.waiting(station.device) == [])
    }

    @Test func `an expired broadcast is swept once and frees its place in the window`() throws {
        let store = try TestStore { $0.sweepIntervalMilliseconds = 1 }
        let station = try Station(store)
        let channel = try station.subscribedChannel()
        let (stream, _) = try store.attach(station.device)
        let count = Limits.unacknowledgedCountMax - 1
        _ = try store.accept((0..<count).map { .to(station.token, "\($0)") })
        try store.publish(.to(channel, "broadcast", expiration: startSeconds + 60))
        let blocked = try store.accept([.to(station.token, "late")]).1
        #expect(blocked.texts(to: stream) == [])
        store.clock.now += 60_001
        let late = try store.collectors[0].take("the one behind the window") { !$0.texts(to: stream).isEmpty }
        #expect(late.texts(to: stream) == ["late"])
        let counts = try store.counts()
        #expect(counts.expired == 1 && counts.pending == count + 1)
    }

    // MARK: Order and window

    @Test func `broadcasts and notifications arrive in the order of acceptance, now and on the next stream`() throws {
        let channels = try [1, 2, 3].map { try station.subscribedChannel($0) }
        func batch() throws -> [StoreReply] {
            try store.run([
                .publish(.to(channels[0], "a"), answer: store.address()),
                .accept(.to(station.token, "b"), answer: store.address()),
                .publish(.to(channels[1], "now", expiration: 0), answer: store.address()),
                .publish(.to(channels[1], "c"), answer: store.address()),
                .accept(.to(station.token, "d"), answer: store.address()),
                .publish(.to(channels[2], "e"), answer: store.address()),
            ])
        }
        let (stream, _) = try store.attach(station.device)
        #expect(try batch().texts(to: stream) == ["a", "b", "now", "c", "d", "e"])
        #expect(try store.waiting(station.device) == ["a", "b", "c", "d", "e"])
        try store.reopen()
        #expect(try store.waiting(station.device) == ["a", "b", "c", "d", "e"])
    }

    @Test func `a queue longer than the window keeps its order when the window is refilled`() throws {
        let channels = try (1...70).map { try station.subscribedChannel($0) }
        var expected: [String] = []
        for (number, channel) in channels.enumerated() {
            try store.publish(.to(channel, "broadcast \(number)"))
            try store.accept(.to(station.token, "own \(number)"))
            expected += ["broadcast \(number)", "own \(number)"]
        }
        let (stream, replies) = try store.attach(station.device)
        var (delivered, pending) = ([String](), replies.delivered(to: stream))
        while !pending.isEmpty {
            #expect(pending.count <= Limits.unacknowledgedCountMax)
            delivered += pending.map(\.text)
            pending = try store.acknowledge(station.device, pending.map(\.sequence)).delivered(to: stream)
        }
        #expect(delivered == expected)
        #expect(try store.waiting(station.device) == [])
    }

    @Test(.bothEngines, .namesEngine, arguments: ["replaced", "unsubscribed", "removed", "refused"])
    func `removing a sent broadcast in any way frees its place in the window`(how: String) throws {
        let channel = try station.subscribedChannel()
        let (stream, _) = try store.attach(station.device)
        try store.publish(.to(channel, "broadcast"))
        try store.addApp("other")
        let token = try store.register(station.device, "other")
        _ = try store.accept((1...Limits.unacknowledgedCountMax).map { .to(token, "\($0)") })
        let credential = station.device.credential
        let command: StoreCommand =
            switch how {
            case "replaced": .publish(.to(channel, "newer"), answer: store.address())
            case "unsubscribed":
                .perform(
                    .device(.unsubscribe(topic: Station.topic, channel: channel.id), by: credential),
                    answer: store.address())
            case "removed":
                .perform(
                    .control(.removeChannel(channel.id, topic: Station.topic, environment: .production)),
                    answer: store.address())
            default:
                .perform(.device(.setFilter(refusedTopics: [Station.topic]), by: credential), answer: store.address())
            }
        #expect(try store.run([command]).texts(to: stream) == ["\(Limits.unacknowledgedCountMax)"])
    }

    @Test func `a broadcast that one subscriber acknowledges is still delivered to another in the same batch`() throws {
        let store = try #require(store as? TestStore)
        let channel = try station.subscribedChannel(1)
        let other = try station.another(2)
        try store.subscribe(other, to: channel)
        try store.publish(.to(channel, "news"))
        let (first, replies) = try store.attach(station.device)
        let sequence = try #require(replies.delivered(to: first).first?.sequence)
        let second = store.address()
        store.store.submit([
            .acknowledge([.init(id: sequence, outcome: .shown)], by: station.device.id),
            .attach(other.credential, stream: second),
        ])
        let answer = try store.collectors[0].take("the news") { !$0.delivered(to: second).isEmpty }
        #expect(answer.delivered(to: second).map(\.text) == ["news"])
        #expect(try store.waiting(station.device) == [])
    }

    @Test(arguments: [Limits.unacknowledgedCountMax - 1, Limits.unacknowledgedCountMax])
    func `a now-or-never broadcast needs capacity in one subscriber's window`(unacknowledgedCount: Int) throws {
        let channel = try station.subscribedChannel(1, .noMessageStored)
        let (stream, _) = try store.attach(station.device)
        _ = try store.accept((0..<unacknowledgedCount).map { .to(station.token, "\($0)") })
        let hasRoom = unacknowledgedCount < Limits.unacknowledgedCountMax
        let replies = try store.publish([.to(channel, "now", expiration: 0)]).1
        #expect(replies.delivered(to: stream).map(\.text) == (hasRoom ? ["now"] : []))
        #expect(try store.counts().expired == (hasRoom ? 0 : 1))
    }

    // MARK: Filters

    @Test(.bothEngines, .namesEngine)
    func `a device that refuses a topic misses its broadcasts, even after it accepts the topic again`() throws {
        let channel = try station.subscribedChannel()
        let credential = station.device.credential
        let (stream, _) = try store.attach(station.device)
        try store.publish(.to(channel, "before"))
        try store.succeed(.device(.setFilter(refusedTopics: [Station.topic]), by: credential))
        let while1 = try store.publish([.to(channel, "while"), .to(channel, "now", expiration: 0)]).1
        #expect(while1.texts(to: stream) == [])
        #expect(try store.waiting(station.device) == [])
        try store.succeed(.device(.setFilter(refusedTopics: []), by: credential))
        #expect(try store.waiting(station.device) == [])
        let (again, _) = try store.attach(station.device)
        #expect(try store.publish([.to(channel, "after")]).1.texts(to: again) == ["after"])
        try store.succeed(.device(.setFilter(refusedTopics: []), by: credential))
        #expect(try store.waiting(station.device) == ["after"])
    }

    @Test(.bothEngines, .namesEngine)
    func `a device that subscribes while it refuses the topic gets broadcasts once it accepts it`() throws {
        let credential = station.device.credential
        try store.succeed(.device(.setFilter(refusedTopics: [Station.topic]), by: credential))
        let (stream, _) = try store.attach(station.device)
        let channel = try station.subscribedChannel()
        #expect(try store.publish([.to(channel, "while")]).1.texts(to: stream) == [])
        try store.succeed(.device(.setFilter(refusedTopics: []), by: credential))
        #expect(try store.publish([.to(channel, "after")]).1.texts(to: stream) == ["after"])
    }

    // MARK: Counting

    @Test func `a broadcast counts once, however many subscribers it has`() throws {
        let (storing, passing) = (try station.subscribedChannel(1), try station.subscribedChannel(2, .noMessageStored))
        let other = try station.another(2)
        for channel in [storing, passing] { try store.subscribe(other, to: channel) }
        let streams = try [station.device, other].map { try store.attach($0).0 }
        let replies = try store.publish([.to(storing, "a"), .to(passing, "b", expiration: 0)]).1
        #expect(streams.map(replies.texts) == [["a", "b"], ["a", "b"]])
        let sequence = try #require(replies.delivered(to: streams[0]).first?.sequence)
        _ = try store.acknowledge(station.device, [sequence])
        let counts = try store.counts()
        #expect(counts.accepted == 2 && counts.pending == 2 && counts.acknowledged == 0 && counts.expired == 0)
        #expect(counts.outcomes["delivered"] == 1)
        #expect(try store.device(station.device).pendingCount == 0)
        #expect(try store.device(other).pendingCount == 1)
        guard case .app(let app) = try store.succeed(.control(.app(topic: Station.topic))) else {
            throw MissingReply(what: "app")
        }
        #expect(app.pendingCount == 2)
        try store.reopen()
        #expect(try store.counts().pending == 1)
    }

    @Test func `a now-or-never broadcast ends with its first acknowledgement, or expires with its last stream`()
        throws
    {
        let channel = try station.subscribedChannel(1, .noMessageStored)
        let other = try station.another(2)
        try store.subscribe(other, to: channel)
        let streams = try [station.device, other].map { try store.attach($0).0 }
        let first = try store.publish([.to(channel, "a", expiration: 0)]).1.delivered(to: streams[0])
        #expect(try store.counts().pending == 1)
        _ = try store.acknowledge(station.device, first.map(\.sequence))
        _ = try store.acknowledge(other, first.map(\.sequence))
        #expect(try store.counts().acknowledged == 1 && store.counts().pending == 0)
        try store.publish(.to(channel, "b", expiration: 0))
        _ = try store.run([.detach(stream: streams[0])])
        #expect(try store.counts().expired == 0 && store.counts().pending == 1)
        _ = try store.run([.detach(stream: streams[1])])
        #expect(try store.counts().expired == 1 && store.counts().pending == 0)
    }

    @Test func `a now-or-never broadcast expires if its stream closes before it is sent`() throws {
        let channel = try station.subscribedChannel(1, .noMessageStored)
        let stream = store.address()
        _ = try store.run([
            .attach(station.device.credential, stream: stream),
            .publish(.to(channel, "now", expiration: 0), answer: store.address()), .detach(stream: stream),
        ])
        #expect(try store.counts().expired == 1)
        try store.publish(.to(channel, "nobody", expiration: 0))
        #expect(try store.counts().expired == 2 && store.counts().pending == 0)
    }

    private func attachAndPublish(_ broadcast: Broadcast) throws -> PendingNotification {
        let (stream, _) = try store.attach(station.device)
        let replies = try store.publish([broadcast]).1
        return try #require(replies.delivered(to: stream).first)
    }
}
