// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct EnvironmentTests {
    private let store: TestStore
    private let device: TestDevice

    init() throws {
        store = try TestStore()
        try store.addBroadcastApp()
        device = try store.enrol()
    }

    @Test(arguments: Environment.allCases)
    func `registering again in the same environment returns the same token`(environment: Environment) throws {
        let token = try store.register(device, in: environment)
        #expect(try store.register(device, in: environment) == token)
        try store.reopen()
        #expect(try store.register(device, in: environment) == token)
        #expect(try store.counts().registrations == 1)
    }

    @Test(arguments: Environment.allCases)
    func `registering in the other environment returns another token and ends the first`(first: Environment) throws {
        let token = try store.register(device, in: first)
        let (stream, _) = try store.attach(device)
        try store.accept(.to(token, "waits"))
        store.clock.now += 5
        let ended = store.clock.now
        let other = try store.register(device, in: first.other)
        #expect(other.generation == token.generation + 1)
        store.clock.now += 5
        #expect(try store.accept(.to(token, "a")) == .refused(.unregistered, ended: ended))
        #expect(try store.accept([.to(other, "b")]).1.texts(to: stream) == ["b"])
        #expect(try store.waiting(device) == ["b"])
        let counts = try store.counts()
        #expect(counts.registrations == 1 && counts.unregistered == 1 && counts.pending == 1)
        #expect(try store.register(device, in: first).generation == token.generation + 2)
    }

    @Test func `a change of environment cancels deliveries in the same batch`() throws {
        let token = try store.register(device)
        let (stream, _) = try store.attach(device)
        let change = StoreRequest.device(
            .register(topic: Station.topic, environment: .development), by: device.credential)
        let replies = try store.run([
            .accept(.to(token, "a"), answer: store.address()),
            .accept(.to(token, "now", expiration: 0), answer: store.address()),
            .perform(change, answer: store.address()),
        ])
        #expect(replies.texts(to: stream) == [])
    }

    @Test func `an app can subscribe only in its current environment`() throws {
        let channels = try Environment.allCases.enumerated().map { index, environment in
            let id = ChannelID(high: 0, low: UInt64(index))
            try store.succeed(
                .control(
                    .createChannel(id, topic: Station.topic, environment: environment, policy: .mostRecentMessageStored)
                ))
            return id
        }
        for (index, environment) in Environment.allCases.enumerated() {
            try store.register(device, in: environment)
            let requests = channels.map {
                StoreRequest.device(.subscribe(topic: Station.topic, channel: $0), by: device.credential)
            }
            #expect(try store.refusal(requests[index]) == nil)
            #expect(try store.refusal(requests[1 - index]) == .unknownChannel)
            #expect(try store.subscriptions(device) == [channels[index]])
        }
    }

    @Test func `a key is listed with its environment, also after a restart`() throws {
        let environments: [Environment?] = [nil, .production, .development]
        for (index, environment) in environments.enumerated() {
            try store.succeed(
                .control(
                    .addKey(
                        SigningKey(
                            id: "KEY000000\(index)", teamID: "TEAM000000", topics: nil, publicKey: [1],
                            createdAt: Timestamp(unixSeconds: Int64(index)), environment: environment))))
        }
        _ = store.collectors[0].takeAll()
        try store.reopen()
        guard case .keys(let keys) = try store.succeed(.control(.keys)) else { throw MissingReply(what: "keys") }
        #expect(keys.map(\.environment) == environments)
    }

    // MARK: Other settings of an app

    @Test func `an app has the settings with which it was added and changed`() throws {
        func app() throws -> AdminAPI.App {
            guard case .app(let app) = try store.succeed(.control(.app(topic: "a"))) else {
                throw MissingReply(what: "app")
            }
            return app
        }
        try store.succeed(
            .control(.addApp(topic: "a", name: "A", teamID: "T", checks: .strict, allowsBroadcasts: true)))
        #expect(try app().checks == .strict && app().broadcasts)
        try store.succeed(.control(.changeApp(topic: "a", name: "B", checks: nil, allowsBroadcasts: nil)))
        #expect(try app().name == "B" && app().checks == .strict && app().broadcasts)
        try store.succeed(.control(.changeApp(topic: "a", name: nil, checks: .off, allowsBroadcasts: nil)))
        #expect(try app().name == "B" && app().checks == .off && app().broadcasts)
        try store.succeed(.control(.changeApp(topic: "a", name: nil, checks: nil, allowsBroadcasts: false)))
        try store.reopen()
        #expect(try app().name == "B" && app().checks == .off && app().broadcasts == false)
        #expect(try app().teamID == "T")
    }

    @Test(arguments: [(Limits.displayNameByteCountMax, true), (Limits.displayNameByteCountMax + 1, false)])
    func `a changed name has a size limit`(byteCount: Int, fits: Bool) throws {
        let name = String(repeating: "n", count: byteCount)
        let request = StoreRequest.control(
            .changeApp(topic: Station.topic, name: name, checks: nil, allowsBroadcasts: nil))
        #expect(try store.refusal(request) == (fits ? nil : .tooMany))
    }

    @Test func `a missing app cannot be changed`() throws {
        let request = StoreRequest.control(.changeApp(topic: "none", name: nil, checks: .off, allowsBroadcasts: nil))
        #expect(try store.refusal(request) == .unknownTopic)
    }

    @Test func `loops receive an app's changed checks and broadcast setting`() throws {
        _ = store.collectors[0].takeAll()
        let answer = store.address()
        let change = StoreRequest.control(
            .changeApp(topic: Station.topic, name: nil, checks: .strict, allowsBroadcasts: false))
        store.store.submit([.perform(change, answer: answer)])
        let replies = try store.collectors[0].take("the answer") { $0.contains { $0.answers(answer) } }
        let topics = replies.compactMap { reply -> [Topic]? in
            if case .directory(let directory) = reply { Array(directory.topics.values) } else { nil }
        }
        #expect(topics.last?.map(\.checks) == [.strict])
        #expect(topics.last?.map(\.allowsBroadcasts) == [false])
    }
}
