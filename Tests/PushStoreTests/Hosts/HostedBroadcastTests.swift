// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

/// Tests the broadcasts that hosts deliver to their subscribers.
struct HostedBroadcastTests {
    private static let topic: TopicName = "com.example.Live"
    private let loops: HostedLoops
    private let devices: [TestDevice]
    private let tokens: [DeviceTokenContents]
    private let streams: [ReplyAddress]
    private let channels: [Bool: TestChannel]

    /// Subscribes two devices, which loop 1 hosts, to a channel that stores and to one that does not.
    init() throws {
        loops = try HostedLoops(2)
        let store = loops.store
        try store.addApp("com.example.App")
        try store.addBroadcastApp(Self.topic)
        devices = try (1...2).map { try store.enrol($0) }
        tokens = try devices.map { try store.register($0) }
        let live = try devices.map { try store.register($0, Self.topic) }
        var channels: [Bool: TestChannel] = [:]
        for isStored in [false, true] {
            let id = ChannelID(high: 1, low: isStored ? 1 : 2)
            try store.succeed(
                .control(
                    .createChannel(
                        id, topic: Self.topic, environment: .production,
                        policy: isStored ? .mostRecentMessageStored : .noMessageStored)))
            let channel = TestChannel(id: id, topic: live[0].topic)
            for device in devices { try store.subscribe(device, to: channel, Self.topic) }
            channels[isStored] = channel
        }
        self.channels = channels
        var streams: [ReplyAddress] = []
        for (device, token) in zip(devices, tokens) { streams.append(try loops.host(device, token, on: 1)) }
        self.streams = streams
    }

    private func publish(_ text: String, isStored: Bool) throws -> ReplyAddress {
        let answer = loops.address(2)
        let channel = try #require(channels[isStored])
        let broadcast: Broadcast = isStored ? .to(channel, text) : .to(channel, text, expiration: 0)
        loops.submit(.publish(broadcast, answer: answer), on: 2)
        loops.turn(2)
        try loops.wait()
        return answer
    }

    private func texts(_ index: Int) -> [String] { loops.delivered(to: streams[index]).map(\.text) }

    private func acknowledgeAll() throws {
        for (device, stream) in zip(devices, streams) {
            loops.acknowledge(loops.delivered(to: stream).map(\.sequence), by: device, on: 1)
        }
        try loops.endGraces()
    }

    @Test(arguments: [false, true])
    func `a loop delivers a broadcast to all subscribers with one reply`(isStored: Bool) throws {
        _ = loops.send(.to(tokens[0], "a"), from: 1)
        loops.turn(1)
        let answer = try publish("goal", isStored: isStored)
        try loops.settle()
        let replies = loops.received.filter { if case .broadcast = $0.reply { true } else { false } }
        #expect(replies.count == 1 && loops.isAccepted(answer))
        #expect(texts(0) == ["first", "a", "goal"] && texts(1) == ["first", "goal"])
        try acknowledgeAll()
        let counts = try loops.store.counts()
        #expect(counts.accepted == 4 && counts.pending == (isStored ? 1 : 0))
        #expect(counts.acknowledged == (isStored ? 3 : 4) && counts.outcomes["delivered"] == 5)
        #expect(try loops.attach(devices[0], on: 2) != streams[0])
        #expect(
            !loops.received.map(\.reply).contains { if case .deliver(_, let at) = $0 { at.loop == 2 } else { false } })
    }

    @Test(arguments: [false, true])
    func `a broadcast is delivered once, although the queue is returned while it is on its way`(isStored: Bool) throws {
        _ = loops.send(.to(tokens[0], "a", collapseID: "x"), from: 1)
        loops.turn(1)
        _ = try publish("goal", isStored: isStored)
        // The loop returns the queue before it takes the broadcast, because "b" replaces "a".
        _ = loops.send(.to(tokens[0], "b", collapseID: "x"), from: 1)
        try loops.settle()
        #expect(texts(0).filter { $0 == "goal" } == ["goal"] && texts(1) == ["first", "goal"])
        try acknowledgeAll()
        let counts = try loops.store.counts()
        #expect(counts.pending == (isStored ? 1 : 0) && counts.expired == 0)
    }

    @Test(arguments: [false, true])
    func `a device with a full window receives a stored broadcast, and no other`(isStored: Bool) throws {
        for number in 0..<Limits.unacknowledgedCountMax { _ = loops.send(.to(tokens[0], "\(number)"), from: 1) }
        try loops.endGraces()
        _ = try publish("goal", isStored: isStored)
        try loops.settle()
        try acknowledgeAll()
        try acknowledgeAll()
        #expect(texts(0).filter { $0 == "goal" }.count == (isStored ? 1 : 0) && texts(1).last == "goal")
        #expect(try loops.store.counts().pending == (isStored ? 1 : 0))
    }

    @Test func `a broadcast that nobody acknowledges expires when its last stream ends`() throws {
        _ = try publish("goal", isStored: false)
        try loops.settle()
        for (number, stream) in streams.enumerated() {
            #expect(try loops.store.counts().expired == 0, "\(number)")
            loops.submit(.detach(stream: stream), on: 1)
            try loops.settle()
        }
        let counts = try loops.store.counts()
        #expect(counts.expired == 1 && counts.pending == 0)
    }

    @Test func `the removal of a channel recalls only the queues of its subscribers`() throws {
        let other = try loops.store.enrol(3)
        let token = try loops.store.register(other)
        let stream = try loops.host(other, token, on: 1)
        let channel = try #require(channels[false])
        try loops.store.succeed(
            .control(
                .createChannel(
                    ChannelID(high: 1, low: 3), topic: Self.topic, environment: .production, policy: .noMessageStored)))
        for id in [ChannelID(high: 1, low: 3), channel.id] {
            let answer = loops.address(2)
            loops.submit(
                .perform(.control(.removeChannel(id, topic: Self.topic, environment: .production)), answer: answer),
                on: 2)
            loops.turn(2)
            try loops.wait()
            let recalled = loops.store.collectors[1].recalledDevices
            #expect(recalled == (id == channel.id ? devices.map(\.id) : []))
        }
        try loops.settle()
        _ = loops.send(.to(token, "direct"), from: 1)
        loops.turn(1)
        #expect(loops.delivered(to: stream).map(\.text) == ["first", "direct"])
    }

    @Test func `an app cannot recall the subscribers of another app's channel`() throws {
        let (answer, channel) = (loops.address(2), try #require(channels[false]))
        loops.submit(
            .perform(
                .control(.removeChannel(channel.id, topic: "com.example.App", environment: .production)), answer: answer
            ),
            on: 2)
        loops.turn(2)
        try loops.wait()
        #expect(loops.store.collectors[1].recalledDevices == [])
        try loops.settle()
        guard case .performed(.failure(.unknownChannel), _)? = loops.answers(at: answer).first else {
            Issue.record("\(loops.answers(at: answer))")
            return
        }
    }

    @Test(arguments: [WriterLimits.handedSubscriptionCountMax, WriterLimits.handedSubscriptionCountMax + 1])
    func `the queue of a device with many subscriptions stays with the store`(count: Int) throws {
        let store = loops.store
        let device = try store.enrol(4)
        let live = try store.register(device, Self.topic)
        for number in 0..<UInt64(count) {
            let id = ChannelID(high: 2, low: number)
            try store.succeed(
                .control(.createChannel(id, topic: Self.topic, environment: .production, policy: .noMessageStored)))
            try store.subscribe(device, to: TestChannel(id: id, topic: live.topic), Self.topic)
        }
        let stream = try loops.host(device, live, on: 1)
        let answer = loops.send(.to(live, "direct"), from: 1)
        loops.turn(1)
        let isHosted = loops.delivered(to: stream).map(\.text) == ["first", "direct"]
        #expect(isHosted == (count == WriterLimits.handedSubscriptionCountMax))
        try loops.settle()
        loops.acknowledge(loops.delivered(to: stream).map(\.sequence), by: device, on: 1)
        try loops.settle()
        #expect(loops.isAccepted(answer))
    }

    @Test func `broadcasts are refused while a loop has too many to deliver`() throws {
        let answers = try (0...WriterLimits.undeliveredBroadcastCountMax).map { number in
            try publish("\(number)", isStored: false)
        }
        loops.turn(2)
        #expect(answers.filter { !loops.isAccepted($0) } == answers.suffix(1))
        try loops.settle()
        let later = try publish("later", isStored: false)
        try loops.settle()
        #expect(loops.isAccepted(later))
    }

    @Test func `nothing arrives from a channel after its removal was answered`() throws {
        let (answer, channel) = (loops.address(2), try #require(channels[false]))
        loops.submit(
            .perform(.control(.removeChannel(channel.id, topic: Self.topic, environment: .production)), answer: answer),
            on: 2)
        try loops.settle()
        #expect(loops.answers(at: answer).count == 1)
        let refused = try publish("goal", isStored: false)
        try loops.settle()
        guard case .refused(.channelNotRegistered, _, _)? = loops.answers(at: refused).first else {
            Issue.record("\(loops.answers(at: refused))")
            return
        }
        #expect(texts(0) == ["first"])
    }
}
