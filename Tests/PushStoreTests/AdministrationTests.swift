// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct AdministrationTests {
    private let store: any RequestTarget

    init() throws { store = try StoreEngine.open() }

    // MARK: Apps

    @Test func `apps are listed by topic, with their registrations and pending notifications`() throws {
        try store.succeed(.control(.addApp(topic: "b", name: "B", teamID: "T")))
        try store.succeed(.control(.addApp(topic: "a", name: "A", teamID: "T")))
        let device = try store.enrol()
        let token = try store.register(device, "b")
        for text in ["1", "2"] { try store.accept(.to(token, text)) }
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
        for token in tokens + [other] { try store.accept(.to(token, "a")) }
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

    @Test(arguments: [ControlRequest.app(topic: "none"), .removeApp(topic: "none")])
    func `a request for a missing app is refused as an unknown topic`(request: ControlRequest) throws {
        #expect(try store.refusal(.control(request)) == .unknownTopic)
    }

    // MARK: Keys

    @Test func `keys are listed oldest first, and revoked keys stay in the list`() throws {
        try store.succeed(.control(.addKey(signingKey("NEWER00000", created: 9, topics: ["b", "a"]))))
        try store.succeed(.control(.addKey(signingKey("OLDER00000", created: 3))))
        try store.succeed(.control(.addKey(signingKey("NONE000000", created: 12, topics: []))))
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
        try store.succeed(.control(.addKey(signingKey("KEY0000000"))))
        try store.succeed(.control(.revokeKey(id: "KEY0000000")))
        #expect(try store.refusal(.control(.addKey(signingKey("KEY0000000")))) == .alreadyExists)
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
        try store.connect(first)
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
}

/// Returns a key of a test.
func signingKey(_ id: String, created: Int64 = 1, topics: [TopicName]? = nil) -> SigningKey {
    SigningKey(
        id: id, teamID: "TEAM000000", topics: topics, publicKey: [1, 2, 3],
        createdAt: Timestamp(unixSeconds: created))
}
