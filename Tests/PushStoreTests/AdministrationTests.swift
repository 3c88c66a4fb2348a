// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct AdministrationTests {
    private let store: TestStore

    init() throws { store = try TestStore(loopCount: 2) }

    private func key(_ id: String, created: Int64 = 1, topics: [TopicName]? = nil) -> SigningKey {
        SigningKey(
            id: id, teamID: "TEAM000000", topics: topics, publicKey: [1, 2, 3],
            createdAt: Timestamp(unixSeconds: created))
    }

    /// Returns the directories that a loop received since the last call.
    private func directories(_ loop: Int) -> [Directory] {
        store.collectors[loop].takeAll().compactMap {
            if case .directory(let directory) = $0 { directory } else { nil }
        }
    }

    // MARK: Apps

    @Test func `apps are listed by topic, with their registrations and pending notifications`() throws {
        try store.succeed(.control(.addApp(topic: "b", name: "B", teamID: "T")))
        try store.succeed(.control(.addApp(topic: "a", name: "A", teamID: "T")))
        let device = try store.enrol()
        let token = try store.register(device, "b")
        _ = try store.accept([.to(token, "1"), .to(token, "2")])
        try store.reopen()
        guard case .apps(let apps) = try store.succeed(.control(.apps)) else { throw MissingReply(what: "apps") }
        #expect(apps.map(\.topic) == ["a", "b"])
        #expect(apps.map(\.name) == ["A", "B"])
        #expect(apps.map(\.registrationCount) == [0, 1])
        #expect(apps.map(\.pendingCount) == [0, 2])
        guard case .app(let app) = try store.succeed(.control(.app(topic: "b"))) else {
            throw MissingReply(what: "app")
        }
        #expect(app.pendingCount == 2 && app.teamID == "T")
    }

    @Test func `a topic cannot be added twice`() throws {
        try store.addApp()
        #expect(try store.refusal(.control(.addApp(topic: "com.example.App", name: "", teamID: ""))) == .alreadyExists)
        #expect(try store.refusal(.control(.addApp(topic: "com.example.APP", name: "", teamID: ""))) == nil)
        #expect(try store.counts().apps == 2)
    }

    @Test(arguments: [
        (Limits.topicByteCountMax, Limits.displayNameByteCountMax, true),
        (Limits.topicByteCountMax + 1, Limits.displayNameByteCountMax, false),
        (Limits.topicByteCountMax, Limits.displayNameByteCountMax + 1, false),
    ])
    func `an app's topic and name have size limits`(topicByteCount: Int, nameByteCount: Int, fits: Bool) throws {
        let (topic, name) = (
            TopicName(String(repeating: "t", count: topicByteCount)), String(repeating: "n", count: nameByteCount)
        )
        #expect(try store.refusal(.control(.addApp(topic: topic, name: name, teamID: ""))) == (fits ? nil : .tooMany))
    }

    @Test func `removing an app ends its tokens on all devices, and adding it again creates new ones`() throws {
        try store.addApp()
        try store.addApp("com.example.Other")
        let devices = [try store.enrol(1), try store.enrol(2)]
        let tokens = try devices.map { try store.register($0) }
        let other = try store.register(devices[0], "com.example.Other")
        _ = try store.accept((tokens + [other]).map { .to($0, "a") })
        store.clock.now += 3
        try store.succeed(.control(.removeApp(topic: "com.example.App")))
        let ended = store.clock.now
        try store.addApp()
        let again = try store.register(devices[0])
        #expect(again.topic.rawValue > other.topic.rawValue)
        store.clock.now += 3
        #expect(try store.accept(.to(tokens[1], "b")) == .refused(.unregistered, ended: ended))
        #expect(try store.accept(.to(again, "b")) == .accepted)
        #expect(try store.waiting(devices[0]) == ["a", "b"])
        let counts = try store.counts()
        #expect(counts.unregistered == 2 && counts.registrations == 2 && counts.pending == 2 && counts.apps == 2)
        try store.reopen()
        let recounted = try store.counts()
        #expect(recounted.registrations == 2 && recounted.pending == 2 && recounted.apps == 2)
    }

    @Test func `removing an app cancels its deliveries in the same batch`() throws {
        try store.addApp()
        let device = try store.enrol()
        let token = try store.register(device)
        let (stream, _) = try store.attach(device)
        let replies = try store.run([
            .accept(.to(token, "a"), answer: store.address()),
            .accept(.to(token, "now", expiration: 0), answer: store.address()),
            .perform(.control(.removeApp(topic: "com.example.App")), answer: store.address()),
        ])
        #expect(replies.delivered(to: stream).isEmpty)
    }

    @Test(arguments: [ControlRequest.app(topic: "none"), .removeApp(topic: "none")])
    func `a request for a missing app is refused as an unknown topic`(request: ControlRequest) throws {
        #expect(try store.refusal(.control(request)) == .unknownTopic)
    }

    // MARK: Keys

    @Test func `keys are listed oldest first, and revoked keys stay in the list`() throws {
        try store.succeed(.control(.addKey(key("NEWER00000", created: 9, topics: ["b", "a"]))))
        try store.succeed(.control(.addKey(key("OLDER00000", created: 3))))
        try store.succeed(.control(.addKey(key("NONE000000", created: 12, topics: []))))
        try store.succeed(.control(.revokeKey(id: "OLDER00000")))
        let revoked = Timestamp(unixMilliseconds: store.clock.now).roundedDownToSeconds
        store.clock.now += 60_000
        try store.succeed(.control(.revokeKey(id: "OLDER00000")))
        try store.reopen()
        guard case .keys(let keys) = try store.succeed(.control(.keys)) else { throw MissingReply(what: "keys") }
        #expect(keys.map(\.keyID) == ["OLDER00000", "NEWER00000", "NONE000000"])
        #expect(keys.map(\.revokedAt) == [revoked, nil, nil])
        #expect(keys.map(\.topics) == [nil, ["b", "a"], []])
        #expect(keys.allSatisfy { $0.privateKey == nil })
    }

    @Test func `a key ID cannot be added twice, even after its key was revoked`() throws {
        try store.succeed(.control(.addKey(key("KEY0000000"))))
        try store.succeed(.control(.revokeKey(id: "KEY0000000")))
        #expect(try store.refusal(.control(.addKey(key("KEY0000000")))) == .alreadyExists)
        #expect(try store.refusal(.control(.revokeKey(id: "NONE000000"))) == .unknownKey)
    }

    // MARK: Devices

    @Test func `devices are listed oldest first, with their topics and pending notifications`() throws {
        try store.addApp("b")
        try store.addApp("a")
        let second = try store.enrol(2)
        store.clock.now += 1999
        let first = try store.enrol(1)
        try store.register(second, "b")
        let token = try store.register(second, "a")
        try store.accept(.to(token, "1"))
        _ = try store.attach(first)
        guard case .devices(let devices, nil) = try store.succeed(.allDevices(.list())) else {
            throw MissingReply(what: "devices")
        }
        #expect(devices.map(\.deviceID) == ["0000000000000002", "0000000000000001"])
        #expect(devices.map(\.topics) == [["a", "b"], []])
        #expect(devices.map(\.pendingCount) == [1, 0])
        #expect(devices.map(\.connected) == [false, true])
        #expect(devices.map(\.enrolledAt.unixSeconds) == [1_800_000_000, 1_800_000_001])
        guard case .device(let one) = try store.succeed(.administer(first.id, .describe)) else {
            throw MissingReply(what: "device")
        }
        #expect(one.connected && one.name == "desk" && one.platform == "linux")
    }

    @Test func `a request in the same batch as an attach already sees the stream`() throws {
        let device = try store.enrol()
        let answer = store.address()
        let replies = try store.run([
            .attach(device.credential, stream: store.address()),
            .perform(.administer(device.id, .describe), answer: answer),
        ])
        let isConnected = replies.contains { reply in
            if case .performed(.success(.device(let device)), answer) = reply { device.connected } else { false }
        }
        #expect(isConnected)
    }

    // MARK: The directory

    @Test func `each loop receives the directory at the start and after each change`() throws {
        _ = try store.collectors[1].take("the first directory") { !$0.isEmpty }
        try store.addApp()
        try store.succeed(.control(.addKey(key("KEY0000000", topics: ["a"]))))
        try store.succeed(.control(.revokeKey(id: "KEY0000000")))
        try store.succeed(.control(.removeApp(topic: "com.example.App")))
        let seen = directories(1)
        #expect(
            seen.map { $0.topics.values.map(\.name) } == [
                ["com.example.App"], ["com.example.App"], ["com.example.App"], [],
            ])
        #expect(seen.map { $0.keys["KEY0000000"] != nil } == [false, true, true, true])
        #expect(seen[2].keys["KEY0000000"]?.revokedAt?.unixSeconds == store.clock.now / 1000)
        #expect(seen[1].keys["KEY0000000"] == key("KEY0000000", topics: ["a"]))
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.version < $1.version })
    }

    @Test func `a changed directory precedes the answer to the request that changed it`() throws {
        let answer = store.address()
        store.store.submit([.perform(.control(.addApp(topic: "a", name: "", teamID: "")), answer: answer)])
        let replies = try store.collectors[0].take("the answer") { $0.contains { $0.answers(answer) } }
        let directory = try #require(
            replies.lastIndex { if case .directory(let directory) = $0 { directory.topics.count == 1 } else { false } })
        let answered = try #require(replies.firstIndex { $0.answers(answer) })
        #expect(directory < answered)
    }

    @Test func `a command that changes neither apps nor keys sends no directory`() throws {
        try store.addApp()
        _ = directories(0)
        _ = directories(1)
        let device = try store.enrol()
        try store.accept(.to(try store.register(device), "a"))
        #expect(try store.refusal(.control(.addApp(topic: "com.example.App", name: "", teamID: ""))) == .alreadyExists)
        #expect(directories(1).isEmpty)
    }
}
