// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// Broadcasts on nodes that share a PostgreSQL.
@Suite(.needsPostgres) struct BroadcastTests {
    @Test(arguments: [MessageStoragePolicy.noMessageStored, .mostRecentMessageStored])
    func `a broadcast reaches the connected subscribers of its channel, and no other device`(
        policy: MessageStoragePolicy
    ) async throws {
        let node = try TestNode(try await PostgresFixture())
        let devices = try (1...3).map { try node.registeredDevice($0) }
        let (channel, other) = (try node.createChannel(policy), try node.createChannel(policy))
        for device in devices[..<2] { try node.subscribe(device, to: channel) }
        try node.subscribe(devices[2], to: other)
        let streams = try devices.map(node.attach)
        let topic = devices[0].contents.topic
        let isNowOrNever = policy == .noMessageStored
        #expect(try node.publish("goal", to: channel, of: topic, isNowOrNever: isNowOrNever) == nil)
        #expect(try node.publish("other", to: other, of: topic, isNowOrNever: isNowOrNever) == nil)
        for (stream, text) in zip(streams, ["goal", "goal", "other"]) {
            let received = try node.received(1, on: stream)
            #expect(received.map(\.text) == [text])
            #expect(received[0].notification.channel == (text == "goal" ? channel : other))
        }
        #expect(try node.publish("x", to: ChannelID(high: 9, low: 9), of: topic) == .channelNotRegistered)
    }

    @Test func `a device that was away gets the last stored broadcast, until it acknowledges that one`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres)
        let device = try node.registeredDevice()
        let channel = try node.createChannel(.mostRecentMessageStored)
        let topic = device.contents.topic
        #expect(try node.publish("before", to: channel, of: topic) == nil)
        try node.subscribe(device, to: channel)
        for text in ["1:0", "2:0"] { #expect(try node.publish(text, to: channel, of: topic) == nil) }
        #expect(try node.publish("live", to: channel, of: topic, isNowOrNever: true) == nil)
        var numbers: [Int64] = []
        for _ in 1...2 {
            let stream = try node.attach(device)
            let received = try node.received(1, on: stream)
            #expect(received.map(\.text) == ["2:0"])
            numbers += received.map(\.sequence)
            if numbers.count == 2 { node.acknowledge(received, by: device) }
        }
        #expect(Set(numbers).count == 1)
        try await eventually("the acknowledgement is stored") {
            try await postgres.sql("SELECT since FROM subscriptions") == "\(numbers[0])"
        }
        let stream = try node.attach(device)
        #expect(try node.send("next", to: device.contents) == nil)
        #expect(try node.received(1, on: stream).map(\.text) == ["next"])
    }

    @Test func `a node that starts knows the stored broadcasts, and finds later ones without a link`() async throws {
        let postgres = try await PostgresFixture()
        var publishing: TestNode? = try TestNode(postgres)
        let device = try #require(try publishing?.registeredDevice())
        let channels = try ["first", "second"].map { text in
            let channel = try #require(try publishing?.createChannel(.mostRecentMessageStored))
            try publishing?.subscribe(device, to: channel)
            #expect(try publishing?.publish(text, to: channel, of: device.contents.topic) == .some(nil))
            return channel
        }
        publishing = nil
        // The second broadcast is stored while the node runs, as another node does it.
        _ = try await postgres.sql(
            """
            CREATE TABLE later AS SELECT * FROM broadcasts WHERE payload = 'second';
            DELETE FROM broadcasts WHERE payload = 'second'
            """)
        let node = try TestNode(postgres)
        let stream = try node.attach(device)
        let first = try node.received(1, on: stream)
        #expect(first.map(\.text) == ["first"] && first[0].notification.channel == channels[0])
        _ = try await postgres.sql("INSERT INTO broadcasts SELECT * FROM later")
        let second = try node.received(1, on: stream)
        #expect(second.map(\.text) == ["second"] && second[0].notification.channel == channels[1])
    }

    @Test func `a subscription that ended gets nothing more, and a removed channel refuses broadcasts`() async throws {
        let node = try TestNode(try await PostgresFixture())
        let device = try node.registeredDevice()
        let (left, removed) = (
            try node.createChannel(.mostRecentMessageStored), try node.createChannel(.mostRecentMessageStored)
        )
        for channel in [left, removed] { try node.subscribe(device, to: channel) }
        let stream = try node.attach(device)
        let topic = device.contents.topic
        try node.succeed(.device(.unsubscribe(topic: TestNode.topic, channel: left), by: device.credential))
        try node.succeed(.control(.removeChannel(removed, topic: TestNode.topic, environment: .production)))
        #expect(try node.publish("unseen", to: left, of: topic) == nil)
        #expect(try node.publish("refused", to: removed, of: topic) == .channelNotRegistered)
        #expect(try node.send("next", to: device.contents) == nil)
        #expect(try node.received(1, on: stream).map(\.text) == ["next"])
    }
}
