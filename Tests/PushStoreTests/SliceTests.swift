// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushNet
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

/// Checks that requests get time slices, between which notifications are processed.
@Suite struct SliceTests {
    private static let topic = Station.topic

    /// Creates a store whose clock advances on each read: a slice ends after `2 ms / step` requests.
    private func store(millisecondsPerLook step: Int64, in directory: TemporaryDirectory? = nil) throws -> TestStore {
        let clock = TestClock(milliseconds: 0)
        return try TestStore(in: directory) {
            $0.monotonicTime = {
                clock.now += step
                return MonotonicTime.past.advanced(byMilliseconds: clock.now)
            }
        }
    }

    /// Submits commands as one batch, which the store takes in one turn, and waits for some of the answers.
    private func run(
        _ commands: [StoreCommand], on store: TestStore, until answers: [ReplyAddress]
    ) throws -> [StoreReply] {
        let first = store.address()
        let barrier = store.collectors[0].stop(at: first)
        store.store.submit([.perform(.allDevices(.counts), answer: first)])
        barrier.reached.wait()
        store.store.submit(commands)
        barrier.goOn.signal()
        return try store.collectors[0].take("\(answers.count) answers") { replies in
            answers.allSatisfy { answer in replies.contains { $0.answers(answer) } }
        }
    }

    private func subscriptions(_ device: TestDevice) -> StoreRequest {
        .device(.subscriptions(topic: Self.topic), by: device.credential)
    }

    // MARK: Order

    @Test(arguments: [(Int64(1), true), (0, false)])
    func `a notification waits for one slice of a device's requests, not for all of them`(
        millisecondsPerLook: Int64, isFair: Bool
    ) throws {
        // With a clock that stands still, a slice does not end. Then the notification waits for all requests, as
        // without slices.
        let store = try store(millisecondsPerLook: millisecondsPerLook)
        let station = try Station(store)
        let lists = (0..<12).map { _ in store.address() }
        let notification = store.address()
        let replies = try run(
            lists.map { .perform(subscriptions(station.device), answer: $0) }
                + [.accept(.to(station.token, "a"), answer: notification)], on: store, until: lists + [notification])
        let accepted = try #require(replies.firstIndex { $0.answers(notification) })
        let before = replies[..<accepted].count { reply in lists.contains { reply.answers($0) } }
        #expect(isFair ? before <= 4 : before == lists.count)
        let order = replies.compactMap { reply in lists.firstIndex { reply.answers($0) } }
        #expect(order == Array(lists.indices))
    }

    @Test func `a device with one request does not wait for all requests of another`() throws {
        let store = try store(millisecondsPerLook: 1)
        let station = try Station(store)
        let other = try station.another(2)
        let lists = (0..<16).map { _ in store.address() }
        let single = store.address()
        let replies = try run(
            lists.map { .perform(subscriptions(station.device), answer: $0) }
                + [.perform(subscriptions(other), answer: single)], on: store, until: lists + [single])
        let answered = try #require(replies.firstIndex { $0.answers(single) })
        #expect(replies[..<answered].count { reply in lists.contains { reply.answers($0) } } <= 5)
    }

    @Test func `a device's requests keep their order across slices`() throws {
        let store = try store(millisecondsPerLook: 3)
        let (device, _) = try store.registeredDevice()
        let addresses = (0..<10).map { _ in store.address() }
        let replies = try run(
            addresses.enumerated().map { index, answer in
                let request: DeviceRequest =
                    index % 2 == 0 ? .unregister(topic: "com.example.App") : .register(topic: "com.example.App")
                return .perform(.device(request, by: device.credential), answer: answer)
            }, on: store, until: addresses)
        let generations = replies.compactMap { reply -> UInt32? in
            if case .performed(.success(.registered(let token)), _) = reply { token.generation } else { nil }
        }
        #expect(generations == [2, 3, 4, 5, 6])
    }

    @Test func `requests over one device's limit are refused immediately, and those of other devices are not`() throws {
        let store = try store(millisecondsPerLook: 3)
        let station = try Station(store)
        let other = try station.another(2)
        let lists = (0..<40).map { _ in store.address() }
        let single = store.address()
        let replies = try run(
            lists.map { .perform(subscriptions(station.device), answer: $0) }
                + [.perform(subscriptions(other), answer: single)], on: store, until: lists + [single])
        #expect(replies.count { $0.isBusy } == 40 - 1 - Limits.waitingRequestPerDeviceCountMax)
        #expect(!replies.contains { $0.isBusy && $0.answers(single) })
    }

    @Test func `pending requests are executed before the store closes`() throws {
        let store = try store(millisecondsPerLook: 3)
        let addresses = (0..<20).map { _ in store.address() }
        store.store.submit(
            addresses.enumerated().map { index, answer in
                .perform(.control(.addApp(topic: TopicName("t\(index)"), name: "", teamID: "")), answer: answer)
            })
        store.store.stop()
        let replies = store.collectors[0].takeAll()
        #expect(addresses.allSatisfy { answer in replies.contains { $0.answers(answer) } })
        try store.reopen()
        guard case .apps(let apps) = try store.succeed(.control(.apps)) else { throw MissingReply(what: "apps") }
        #expect(apps.count == 20)
    }

    // MARK: Long work

    @Test func `a list over several slices has each row once, in order, and notifications do not wait for it`() throws {
        let store = try store(millisecondsPerLook: 3)
        let station = try Station(store)
        var channels: [TestChannel] = []
        for number in 0..<300 { channels.append(try station.channel(UInt64(number))) }
        for channel in channels.reversed() { try store.subscribe(station.device, to: channel) }
        let (list, notification) = (store.address(), store.address())
        let replies = try run(
            [
                .perform(subscriptions(station.device), answer: list),
                .accept(.to(station.token, "a"), answer: notification),
            ], on: store, until: [list, notification])
        let places = try [notification, list].map { address in
            try #require(replies.firstIndex { $0.answers(address) })
        }
        #expect(places[0] < places[1])
        guard case .performed(.success(.subscriptions(let found)), _) = replies[places[1]] else {
            throw MissingReply(what: "subscriptions")
        }
        #expect(found == channels.reversed().map(\.id))
        let all = store.address()
        let answers = try run(
            [.perform(.control(.channels(topic: Self.topic, environment: nil)), answer: all)], on: store, until: [all])
        let listed = answers.compactMap { reply -> [AdminAPI.Channel]? in
            if case .performed(.success(.channels(let channels)), all) = reply { channels } else { nil }
        }
        #expect(listed.map { $0.map(\.channelID) } == [channels.map(\.id.text)])
    }

    @Test func `a list starts over when a request in its transaction fails`() throws {
        let directory = try TemporaryDirectory()
        let store = try store(millisecondsPerLook: 1, in: directory)
        let station = try Station(store)
        var channels: [TestChannel] = []
        for number in 0..<200 { channels.append(try station.subscribedChannel(UInt64(number))) }
        store.store.stop()
        try Connection(path: store.path, durability: .full, exclusive: true).execute(
            """
            CREATE TRIGGER poison BEFORE INSERT ON topics WHEN NEW.topic = 'poison'
            BEGIN SELECT RAISE(ABORT, 'poisoned'); END
            """)
        try store.reopen()
        let (list, poison) = (store.address(), store.address())
        let replies = try run(
            [
                .perform(subscriptions(station.device), answer: list),
                .perform(.control(.addApp(topic: "poison", name: "", teamID: "")), answer: poison),
            ], on: store, until: [list, poison])
        let found = replies.compactMap { reply -> [ChannelID]? in
            if case .performed(.success(.subscriptions(let all)), list) = reply { all } else { nil }
        }
        #expect(found == [channels.map(\.id)])
        #expect(replies.contains { if case .performed(.failure(.unavailable), poison) = $0 { true } else { false } })
    }

    @Test func `an app with many registrations is removed in steps, and other notifications do not wait`() throws {
        let store = try store(millisecondsPerLook: 3)
        let station = try Station(store)
        let channel = try station.subscribedChannel()
        for number in 2..<100 { try store.subscribe(try station.another(UInt64(number)), to: channel) }
        try store.addApp("com.example.Other")
        let other = try store.register(station.device, "com.example.Other")
        try store.accept(.to(station.token, "gone"))
        let (removal, notification) = (store.address(), store.address())
        let replies = try run(
            [
                .perform(.control(.removeApp(topic: Self.topic)), answer: removal),
                .accept(.to(other, "stays"), answer: notification),
            ], on: store, until: [removal, notification])
        let places = try [notification, removal].map { address in
            try #require(replies.firstIndex { $0.answers(address) })
        }
        #expect(places[0] < places[1])
        let counts = try store.counts()
        #expect(counts.apps == 1 && counts.registrations == 1 && counts.pending == 1 && counts.unregistered == 1)
        guard case .refused(.unregistered, _) = try store.accept(.to(station.token, "late")) else {
            throw MissingReply(what: "a refusal")
        }
        #expect(try store.waiting(station.device) == ["stays"])
    }

    @Test func `a device with many registrations and subscriptions is removed in steps`() throws {
        let store = try store(millisecondsPerLook: 3)
        let station = try Station(store)
        for number in 0..<150 { _ = try station.subscribedChannel(UInt64(number)) }
        for number in 0..<20 {
            try store.addApp(TopicName("t\(number)"))
            try store.register(station.device, TopicName("t\(number)"))
        }
        let answer = store.address()
        _ = try run([.perform(.administer(station.device.id, .remove), answer: answer)], on: store, until: [answer])
        let counts = try store.counts()
        #expect(counts.devices == 0 && counts.registrations == 0)
        let all = store.address()
        let answers = try run(
            [.perform(.control(.channels(topic: Self.topic, environment: nil)), answer: all)], on: store, until: [all])
        let listed = answers.compactMap { reply -> [AdminAPI.Channel]? in
            if case .performed(.success(.channels(let channels)), all) = reply { channels } else { nil }
        }
        #expect(listed.map { $0.map(\.subscriptionCount) } == [Array(repeating: 0, count: 150)])
        #expect(try store.refusal(subscriptions(station.device)) == .unauthorized)
    }

    @Test func `a filter of a thousand topics is applied in steps and is complete when it is answered`() throws {
        let store = try store(millisecondsPerLook: 3)
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "waits"))
        let topics = (0..<999).map { TopicName("t\($0)") } + ["com.example.App"]
        let answer = store.address()
        _ = try run(
            [.perform(.device(.setFilter(refusedTopics: topics), by: device.credential), answer: answer)], on: store,
            until: [answer])
        #expect(try store.waiting(device) == [])
        try store.accept(.to(token, "refused"))
        #expect(try store.counts().dropped == 2)
        try store.succeed(.device(.setFilter(refusedTopics: Array(topics.dropLast())), by: device.credential))
        try store.accept(.to(token, "wanted"))
        #expect(try store.waiting(device) == ["wanted"])
    }

    // MARK: Pages

    @Test func `devices are listed in pages that continue after any device, even a removed one`() throws {
        let store = try TestStore()
        var devices: [TestDevice] = []
        for number in [5, 3, 4, 1, 2] {
            devices.append(try store.enrol(UInt64(number)))
            store.clock.now += number == 3 ? 0 : 1
        }
        let ordered = [devices[0], devices[1], devices[2], devices[3], devices[4]].map(\.id)
        var (listed, after): ([String], DeviceID?) = ([], nil)
        repeat {
            guard case .devices(let page, let next) = try store.succeed(.allDevices(.list(after: after, countMax: 2)))
            else {
                throw MissingReply(what: "devices")
            }
            #expect(page.count <= 2)
            listed += page.map(\.deviceID)
            after = next
            if let next { try store.succeed(.administer(next, .remove)) }
        } while after != nil
        #expect(listed == ordered.map(\.text))
        #expect(try store.refusal(.allDevices(.list(after: DeviceID(rawValue: 99), countMax: 2))) == .unknownDevice)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 128, 129])
    func `lists of apps, keys and rules are complete wherever a step ends`(count: Int) throws {
        let store = try TestStore()
        let device = try store.enrol()
        let topics = (0..<count).map { TopicName("t\(String($0 + 1000))") }
        for number in 0..<count {
            try store.addApp(topics[number])
            let key = PolicyRequest.RuleKey(
                device: number % 3 == 0 ? device.id : nil, topic: topics[number], setting: .sound)
            try store.succeed(.control(.policy(.set(key, value: "off", isLocked: false))))
        }
        guard case .apps(let apps) = try store.succeed(.control(.apps)),
            case .policy(let rules, _) = try store.succeed(.device(.policy, by: device.credential)),
            case .policy(let all, _) = try store.succeed(.control(.policy(.all)))
        else { throw MissingReply(what: "lists") }
        #expect(apps.map(\.topic) == topics)
        #expect(rules.map(\.topic) == topics)
        #expect(Set(all.map(\.topic)) == Set(topics) && all.count == count)
    }
}

extension StoreReply {
    fileprivate var isBusy: Bool {
        if case .performed(.failure(.busy), _) = self { true } else { false }
    }
}
