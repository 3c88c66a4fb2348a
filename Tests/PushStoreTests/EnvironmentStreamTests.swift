// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct EnvironmentStreamTests {
    private let store: any StreamTarget
    private let device: TestDevice

    init() throws {
        store = try StoreEngine.openStreams()
        try store.addBroadcastApp()
        device = try store.enrol()
    }

    @Test(.bothEngines, .namesEngine, arguments: Environment.allCases)
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

    @Test func `loops receive an app's changed checks and broadcast setting`() throws {
        let store = try #require(store as? TestStore)
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
