// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushPostgres
import PushSQL
@testable import PushStore
import TestSupport
import Testing

@Suite(.needsPostgres) struct PostgresRequestsTests {
    private let fixture: PostgresFixture
    private let store: PostgresTestStore
    private let app: TopicName = "com.example.App"

    init() async throws {
        fixture = try await PostgresFixture()
        store = try PostgresTestStore(fixture)
    }

    // MARK: Conflicts

    @Test func `a request that a concurrent one prevents is executed again and sees the other one's result`() throws {
        let other = try PostgresTestStore(fixture)
        store.afterBegin = { [store, app] in
            store.afterBegin = nil
            try other.addApp(app)
        }
        #expect(try store.refusal(.control(.addApp(topic: app, name: "", teamID: ""))) == .alreadyExists)
        #expect(store.pauseRanges.count == 1)
        #expect(try store.counts().apps == 1)
    }

    @Test func `a request that is prevented each time is refused as busy, after pauses up to a bound`() throws {
        let other = try PostgresTestStore(fixture)
        var number = 0
        store.afterBegin = {
            number += 1
            try other.addApp(TopicName("other\(number)"))
        }
        #expect(try store.refusal(.control(.addApp(topic: app, name: "", teamID: ""))) == .busy)
        #expect(number == PostgresLimits.attemptCountMax)
        #expect(store.pauseRanges.map(\.upperBound) == [2, 4, 8, 16, 32, 64, 128, 128, 128])
        store.afterBegin = nil
        #expect(try store.counts().apps == number)
    }

    @Test func `a prevented list starts over, so that no row is missing or listed twice`() throws {
        let countMax = WriterLimits.rowsListedPerStepCountMax
        for number in 0..<countMax * 2 { try store.addApp(TopicName("app\(1000 + number)")) }
        var transactionCount = 0
        store.afterBegin = {
            transactionCount += 1
            guard transactionCount == 2 else { return }
            throw SQLError(kind: .conflict, code: "40001", message: "", subject: "")
        }
        guard case .apps(let apps) = try store.succeed(.control(.apps)) else { throw MissingReply(what: "apps") }
        #expect(apps.map(\.topic.text) == (0..<countMax * 2).map { "app\(1000 + $0)" })
        #expect(transactionCount > 3)
    }

    @Test func `another error is passed on, and the transaction has no effect`() throws {
        store.afterBegin = { throw SQLError(kind: .disconnected, code: "08006", message: "", subject: "") }
        #expect(throws: SQLError.self) { try store.addApp(app) }
        store.afterBegin = nil
        #expect(store.effects.isEmpty)
        #expect(try store.counts().apps == 0)
    }

    // MARK: Effects

    @Test func `each change of the directory raises its version, and other requests do not`() throws {
        let before = try store.requests.directory()
        #expect(before.version == 0 && before.topics.isEmpty)
        try store.addApp(app)
        #expect(try store.effects(of: .control(.addKey(signingKey("KEY0000000")))).map(\.hasDirectoryChanged) == [true])
        #expect(try store.effects(of: .control(.apps)).isEmpty)
        _ = try store.enrol()
        #expect(try store.refusal(.control(.addApp(topic: app, name: "", teamID: ""))) == .alreadyExists)
        let after = try store.requests.directory()
        #expect(after.version == 2)
        #expect(after.topics.values.map(\.name) == [app])
        #expect(after.keys["KEY0000000"] == signingKey("KEY0000000"))
    }

    @Test(arguments: [
        DeviceRequest.register(topic: "com.example.Other"), .unregister(topic: "com.example.App"),
        .setFilter(refusedTopics: ["com.example.App"]), .subscribe(topic: "com.example.App", channel: channel),
        .unsubscribe(topic: "com.example.App", channel: subscribed),
    ])
    func `a change of registrations, filter or subscriptions names its device`(request: DeviceRequest) throws {
        let device = try prepareDevice()
        let effects = try store.effects(of: .device(request, by: device.credential))
        #expect(effects.map(\.changedDevices) == [[device.id]])
        #expect(effects.allSatisfy { !$0.hasDirectoryChanged && $0.removedDevices.isEmpty })
        // The same request again changes nothing.
        if case .register = request { return }
        #expect(try store.effects(of: .device(request, by: device.credential)).isEmpty)
    }

    private static let channel = ChannelID(high: 1, low: 1)
    private static let subscribed = ChannelID(high: 1, low: 2)

    /// Adds two apps, two channels, and a device with a registration and a subscription.
    private func prepareDevice() throws -> TestDevice {
        try store.addBroadcastApp(app)
        try store.addApp("com.example.Other")
        let device = try store.enrol()
        try store.register(device)
        for id in [Self.channel, Self.subscribed] {
            try store.succeed(
                .control(
                    .createChannel(id, topic: app, environment: .production, policy: .mostRecentMessageStored)))
        }
        try store.succeed(.device(.subscribe(topic: app, channel: Self.subscribed), by: device.credential))
        return device
    }

    @Test func `the power of a device and its removal are effects`() throws {
        let device = try prepareDevice()
        for isSaving in [true, false] {
            let effects = try store.effects(of: .device(.setPower(isSaving: isSaving), by: device.credential))
            #expect(effects.map(\.savesPower) == [[device.id: isSaving]])
        }
        let effects = try store.effects(of: .administer(device.id, .remove))
        #expect(effects.last?.removedDevices == [device.id])
        #expect(effects.contains { $0.changedDevices == [device.id] })
    }

    @Test func `each step of a long removal has its own effects, and the answer must wait for the hosts`() throws {
        try store.addApp(app)
        let countMax = WriterLimits.rowsChangedPerStepCountMax
        for number in 1...UInt64(countMax) { try store.register(try store.enrol(number)) }
        let effectsBefore = store.effects.count
        let answer = try store.answer(.control(.removeApp(topic: app)))
        #expect(answer.endsDeliveries)
        let effects = store.effects[effectsBefore...]
        #expect(effects.count > 2)
        #expect(effects.map(\.changedDevices.count).reduce(0, +) == countMax)
        #expect(effects.map(\.hasDirectoryChanged) == effects.indices.map { $0 == effects.endIndex - 1 })
        #expect(try store.counts().registrations == 0)
    }

    @Test func `only requests that end deliveries make their answer wait`() throws {
        let device = try prepareDevice()
        let requests: [(StoreRequest, Bool)] = [
            (.control(.apps), false), (.device(.register(topic: app), by: device.credential), false),
            (.device(.register(topic: app, environment: .development), by: device.credential), true),
            (.device(.setFilter(refusedTopics: [app]), by: device.credential), true),
            (.device(.unregister(topic: app), by: device.credential), true),
            (.administer(device.id, .remove), true), (.administer(device.id, .remove), false),
        ]
        for (request, endsDeliveries) in requests {
            #expect(try store.answer(request).endsDeliveries == endsDeliveries, "\(request)")
        }
    }

    // MARK: Notifications

    @Test func `a device acknowledges its own notifications, with and without a collapse ID`() throws {
        let (device, token) = try store.registeredDevice()
        let other = try store.enrol(2)
        try store.accept(.to(token, "a"))
        try store.accept(.to(token, "b", collapseID: "c"))
        try store.accept(.to(token, "c"))
        func acknowledge(_ ids: [Int64], by device: TestDevice) throws -> [PostgresEffects] {
            let acknowledgements = ids.map { DeviceAPI.Acknowledgement(id: $0, outcome: .delivered) }
            return try store.effects(of: .device(.acknowledge(acknowledgements), by: device.credential))
        }
        let ignored = try acknowledge([1, 2, 3], by: other)
        #expect(ignored.map(\.ignoredAcknowledgementCount) == [3] && ignored.allSatisfy(\.removals.isEmpty))
        let effects = try acknowledge([2, 1, 1, 7, 0, -5], by: device)
        #expect(effects.flatMap(\.removals).map(\.row.sequence) == [2, 1])
        #expect(effects.map(\.ignoredAcknowledgementCount) == [4] && effects.flatMap(\.outcomes).count == 2)
        #expect(effects.flatMap(\.removals).allSatisfy { $0.reason == .acknowledged })
        #expect(try store.waiting(device) == ["c"])
        #expect(try store.counts().acknowledged == 2)
    }

    @Test func `a newer stored broadcast replaces the older one, and an acknowledged one no longer waits`() throws {
        let device = try prepareDevice()
        let token = try store.register(device)
        let channel = TestChannel(id: Self.subscribed, topic: token.topic)
        #expect(try store.publish(.to(channel, "a")) == .accepted)
        #expect(try store.publish(.to(channel, "b")) == .accepted)
        let last = try #require(store.lastPublished)
        #expect(store.effects.last?.broadcastRemovals.map(\.reason) == [.collapsed])
        #expect(try store.waiting(device) == ["b"])
        #expect(try store.publish(.to(channel, "now", expiration: 0)) == .accepted)
        #expect(try store.waiting(device) == ["b"])
        let acknowledgement = DeviceAPI.Acknowledgement(id: last, outcome: .delivered)
        try store.succeed(.device(.acknowledge([acknowledgement]), by: device.credential))
        #expect(try store.waiting(device) == [])
        let unknown = TestChannel(id: ChannelID(high: 9, low: 9), topic: token.topic)
        #expect(try store.publish(.to(unknown, "c")) == .refused(.channelNotRegistered, ended: nil))
    }

    @Test func `the longest queues are listed first, with the devices that are connected`() throws {
        try store.addApp(app)
        let devices = try [1, 2, 3].map { try store.enrol($0) }
        for (device, count) in zip(devices, [1, 3, 2]) {
            let token = try store.register(device)
            for number in 0..<count { try store.accept(.to(token, "\(number)")) }
        }
        try store.connect(devices[2])
        guard case .queues(let queues) = try store.succeed(.allDevices(.longestQueues(countMax: 2))) else {
            throw MissingReply(what: "queues")
        }
        #expect(queues.map(\.device) == [devices[1].id, devices[2].id])
        #expect(queues.map(\.count) == [3, 2] && queues.map(\.isConnected) == [false, true])
    }

    @Test func `a device of a node that was not seen for three seconds is not connected`() throws {
        let device = try store.enrol()
        try store.connect(device)
        #expect(try store.device(device).connected)
        #expect(try store.counts().devicesConnected == 1)
        try store.connection.execute("UPDATE nodes SET seen_at = seen_at - interval '3 seconds'")
        #expect(try !store.device(device).connected)
        #expect(try store.counts().devicesConnected == 0)
    }

    // MARK: Rows of each node

    @Test func `the uses of other nodes have their numbers`() throws {
        let (a, b) = (QuotaSubject(.topic, "a"), QuotaSubject(.team, "b"))
        try store.succeed(.control(.quota(.note([QuotaUse(a, day: 2, count: 5), QuotaUse(b, day: 1, count: 1)]))))
        try store.connection.execute(
            "INSERT INTO quota_uses VALUES ('topic', 'a', 2, 30, 6), ('topic', 'a', 1, 900, 7), ('team', 'b', 1, 2, 8)")
        guard case .quotas(_, let uses) = try store.succeed(.control(.quota(.all))) else {
            throw MissingReply(what: "quotas")
        }
        let sorted = uses.sorted { ($0.subject.name, $0.node ?? 0) < ($1.subject.name, $1.node ?? 0) }
        let expected = [
            QuotaUse(a, day: 2, count: 5), QuotaUse(a, day: 2, count: 30, node: 6),
            QuotaUse(a, day: 1, count: 900, node: 7), QuotaUse(b, day: 1, count: 1),
            QuotaUse(b, day: 1, count: 2, node: 8),
        ]
        #expect(sorted == expected)
    }

    // MARK: Refusals

    @Test func `a backup is refused`() throws {
        guard case .unavailable(let text)? = try store.refusal(.backup(StoreBackup(path: "/nowhere") { _ in })) else {
            throw MissingReply(what: "a refusal")
        }
        #expect(text.contains("cluster.key"))
    }
}
