// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct AcceptTests {
    private let store: any StreamTarget
    private let device: TestDevice
    private let token: DeviceTokenContents

    init() throws {
        store = try StoreEngine.openStreams { $0.pendingPerTopicCountMax = 3 }
        (device, token) = try store.registeredDevice()
    }

    @Test(.bothEngines, .namesEngine)
    func `every field of an accepted notification is delivered unchanged after a restart`() throws {
        let notification = Notification(
            address: token, apnsID: Array("0000".utf8), uniqueID: UniqueID(high: .max, low: 1),
            suffixedTopic: "com.example.App.voip", pushType: .voip, priority: 5,
            expiration: TestStore.start.advanced(bySeconds: 60), collapseID: [0, 255, 1],
            payload: Array("{\"aps\":{}}\0\u{e9}".utf8), acceptedAt: Timestamp(unixMilliseconds: 1_799_999_999_999))
        try store.accept(notification)
        try store.reopen()
        let (stream, replies) = try store.attach(device)
        let delivered = try #require(replies.delivered(to: stream).first?.notification)
        #expect(delivered.address == notification.address)
        #expect(delivered.apnsID == notification.apnsID)
        #expect(delivered.uniqueID == notification.uniqueID)
        #expect(delivered.suffixedTopic == notification.suffixedTopic)
        #expect(delivered.pushType == notification.pushType)
        #expect(delivered.priority == notification.priority)
        #expect(delivered.expiration == notification.expiration)
        #expect(delivered.collapseID == notification.collapseID)
        #expect(delivered.payload == notification.payload)
        #expect(delivered.acceptedAt == notification.acceptedAt)
    }

    @Test(.bothEngines, .namesEngine)
    func `fields that the provider omits are omitted on delivery`() throws {
        let bare = Notification(
            address: token, apnsID: [], uniqueID: UniqueID(high: 0, low: 0), suffixedTopic: "", pushType: nil,
            priority: nil, expiration: nil, collapseID: nil, payload: [], acceptedAt: TestStore.start)
        try store.accept(bare)
        let (stream, replies) = try store.attach(device)
        let delivered = try #require(replies.delivered(to: stream).first?.notification)
        #expect(delivered.pushType == nil && delivered.priority == nil && delivered.collapseID == nil)
        #expect(delivered.expiration == nil)
        #expect(delivered.apnsID == [] && delivered.payload == [] && delivered.suffixedTopic == "")
    }

    @Test(.bothEngines, .namesEngine)
    func `a token of a device that never enrolled is a bad device token`() throws {
        for number in [2, UInt64(Int64.max), UInt64.max] {
            let unknown = DeviceTokenContents(
                device: DeviceID(rawValue: number), topic: token.topic, generation: 1)
            #expect(try store.accept(.to(unknown, "a")) == .refused(.badDeviceToken, ended: nil))
        }
        #expect(try store.counts().accepted == 0)
    }

    @Test(.bothEngines, .namesEngine)
    func `a notification for an app that is not registered on the device is refused as unregistered`() throws {
        let other = DeviceTokenContents(
            device: token.device, topic: TopicID(rawValue: token.topic.rawValue + 1), generation: 1)
        #expect(try store.accept(.to(other, "a")) == .refused(.unregistered, ended: store.clock.now))
    }

    @Test(
        .bothEngines, .namesEngine,
        arguments: [(UInt32(0), false), (1, false), (2, true), (3, false), (UInt32.max, false)])
    func `only a token of the current generation is accepted`(generation: UInt32, isAccepted: Bool) throws {
        store.clock.now += 5
        try store.succeed(.device(.unregister(topic: "com.example.App"), by: device.credential))
        let ended = store.clock.now
        store.clock.now += 5
        try store.register(device)
        let address = DeviceTokenContents(device: token.device, topic: token.topic, generation: generation)
        let expected: Acceptance = isAccepted ? .accepted : .refused(.unregistered, ended: ended)
        #expect(try store.accept(.to(address, "a")) == expected)
    }

    @Test func `a full queue drops its oldest notification and counts it`() throws {
        _ = try store.accept(["a", "b", "c"].map { .to(token, $0) })
        #expect(try store.counts().dropped == 0)
        try store.accept(.to(token, "d"))
        #expect(try store.waiting(device) == ["b", "c", "d"])
        #expect(try store.counts().dropped == 1)
        #expect(try store.counts().pending == 3)
    }

    @Test func `each app on each device has its own limit of pending notifications`() throws {
        try store.addApp("com.example.Other")
        let other = try store.register(device, "com.example.Other")
        let second = try store.enrol(2)
        let secondToken = try store.register(second)
        _ = try store.accept([token, other, secondToken].flatMap { token in (0..<3).map { _ in .to(token, "a") } })
        #expect(try store.counts().dropped == 0)
        #expect(try store.counts().pending == 9)
    }

    @Test(.bothEngines, .namesEngine)
    func `a newer notification with the same collapse ID replaces the older one, at the queue's end`() throws {
        _ = try store.accept([
            .to(token, "a", collapseID: "x"), .to(token, "b"), .to(token, "c", collapseID: "x"),
        ])
        #expect(try store.waiting(device) == ["b", "c"])
        #expect(try store.counts().collapsed == 1)
    }

    @Test func `a replacement in a full queue drops no other notification`() throws {
        _ = try store.accept([.to(token, "a"), .to(token, "b", collapseID: "x"), .to(token, "c")])
        try store.accept(.to(token, "d", collapseID: "x"))
        #expect(try store.waiting(device) == ["a", "c", "d"])
        #expect(try store.counts().dropped == 0)
    }

    @Test(.bothEngines, .namesEngine, arguments: [("x", "X"), ("x", "x\0"), ("e\u{301}", "\u{e9}"), ("", "x")])
    func `collapse IDs are compared as bytes`(first: String, second: String) throws {
        _ = try store.accept([.to(token, "a", collapseID: first), .to(token, "b", collapseID: second)])
        #expect(try store.waiting(device) == ["a", "b"])
    }

    @Test(.bothEngines, .namesEngine)
    func `notifications with an empty collapse ID replace each other, and those without one do not`() throws {
        _ = try store.accept([.to(token, "a"), .to(token, "b")])
        #expect(try store.waiting(device) == ["a", "b"])
        _ = try store.accept([.to(token, "c", collapseID: ""), .to(token, "d", collapseID: "")])
        #expect(try store.waiting(device).last == "d")
        #expect(try store.counts().collapsed == 1)
    }

    @Test(.bothEngines, .namesEngine)
    func `notifications of two apps with the same collapse ID do not replace each other`() throws {
        try store.addApp("com.example.Other")
        let other = try store.register(device, "com.example.Other")
        _ = try store.accept([.to(token, "a", collapseID: "x"), .to(other, "b", collapseID: "x")])
        #expect(try store.waiting(device) == ["a", "b"])
    }

    @Test(.bothEngines, .namesEngine)
    func `a notification for a topic that the device refuses is accepted and dropped`() throws {
        try store.succeed(.device(.setFilter(refusedTopics: ["com.example.App"]), by: device.credential))
        #expect(try store.accept(.to(token, "a")) == .accepted)
        #expect(try store.counts().dropped == 1)
        #expect(try store.waiting(device) == [])
        try store.succeed(.device(.setFilter(refusedTopics: ["com.example.Other"]), by: device.credential))
        try store.accept(.to(token, "b"))
        #expect(try store.waiting(device) == ["b"])
    }

    @Test func `each loop receives the answers to its own commands, in their order`() throws {
        let store = try TestStore(loopCount: 2)
        let (_, token) = try store.registeredDevice()
        let answers = (0..<20).map { store.address(loop: $0 % 2) }
        _ = try store.run(answers.map { .accept(.to(token, "a"), answer: $0) })
        let second = try store.collectors[1].take("answers of loop 1") { replies in
            replies.count { if case .accepted = $0 { true } else { false } } == 10
        }
        let exchanges: [Int32] = second.compactMap {
            if case .accepted(let answer) = $0 { answer.exchange } else { nil }
        }
        #expect(exchanges == answers.filter { $0.loop == 1 }.map(\.exchange))
    }

    @Test func `an answer for a loop that does not exist is discarded`() throws {
        let store = try #require(store as? TestStore)
        _ = try store.run([.accept(.to(token, "a"), answer: store.address(loop: 7))])
        #expect(try store.waiting(device) == ["a"])
    }

    @Test func `more commands than fit into one transaction are all answered`() throws {
        let store = try TestStore { $0.pendingPerTopicCountMax = 20_000 }
        let (_, token) = try store.registeredDevice()
        let acceptances = try store.accept((0..<10_000).map { .to(token, "\($0)") }).0
        #expect(acceptances.allSatisfy { $0 == .accepted })
        #expect(try store.counts().pending == 10_000)
    }
}
