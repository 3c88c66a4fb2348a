// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

@testable import PushStore

@Suite(.bothEngines, .namesEngine) struct SendTokenTests {
    private let topic: TopicName = "com.example.App"

    private func hash(_ number: UInt8) -> [UInt8] { [number] + Array(repeating: 9, count: 31) }

    private func tokens(_ store: any RequestTarget, of topic: TopicName? = nil) throws -> [SendToken] {
        guard case .sendTokens(let tokens) = try store.succeed(.control(.sendToken(.list(topic: topic)))) else {
            throw MissingReply(what: "send tokens")
        }
        return tokens
    }

    @Test func `tokens are listed by app, are revoked, and survive a restart`() throws {
        let store = try StoreEngine.open()
        _ = try store.registeredDevice()
        try store.succeed(.control(.addApp(topic: "com.example.Other", name: "Other", teamID: "TEAM000001")))
        try store.succeed(.control(.sendToken(.add(hash: hash(1), topic: topic, name: "one", expiresAt: nil))))
        let end = Timestamp(unixSeconds: store.clock.now / 1000 + 10)
        try store.succeed(
            .control(.sendToken(.add(hash: hash(2), topic: "com.example.Other", name: "two", expiresAt: end))))
        try store.reopen()
        #expect(try tokens(store).map(\.name) == ["one", "two"])
        #expect(try tokens(store, of: topic).map(\.hash) == [hash(1)])
        let known = try tokens(store)[1]
        #expect(known.isValid(at: end) && !known.isValid(at: end.advanced(bySeconds: 1)))
        #expect(try store.refusal(.control(.sendToken(.revoke(id: [7, 7, 7, 7])))) == .unknownSendToken)
        try store.succeed(.control(.sendToken(.revoke(id: known.id))))
        #expect(try tokens(store).map(\.name) == ["one"])
        #expect(
            try store.refusal(.control(.sendToken(.add(hash: hash(3), topic: "no.App", name: "", expiresAt: nil))))
                == .unknownTopic)
        // Another token with the same first four bytes could not be revoked alone.
        let same = Array(hash(1).prefix(4)) + Array(repeating: 1, count: 28)
        #expect(
            try store.refusal(.control(.sendToken(.add(hash: same, topic: topic, name: "", expiresAt: nil))))
                == .alreadyExists)
    }

    @Test func `the tokens of a removed app are gone`() throws {
        let store = try StoreEngine.open()
        _ = try store.registeredDevice()
        try store.succeed(.control(.sendToken(.add(hash: hash(1), topic: topic, name: "", expiresAt: nil))))
        try store.succeed(.control(.removeApp(topic: topic)))
        #expect(try tokens(store).isEmpty)
    }

    @Test func `the recipients of an app are its live registrations`() throws {
        let store = try StoreEngine.open()
        let (first, token) = try store.registeredDevice()
        let second = try store.register(try store.enrol(2))
        func recipients(_ devices: [DeviceID]? = nil, countMax: Int = 100) throws -> ([DeviceTokenContents], Bool) {
            let request = StoreRequest.allDevices(.recipients(token.topic, devices: devices, countMax: countMax))
            guard case .recipients(let list, let isComplete) = try store.succeed(request) else {
                throw MissingReply(what: "recipients")
            }
            return (list.map(\.contents), isComplete)
        }
        #expect(Set(try recipients().0) == [token, second])
        #expect(try recipients(countMax: 1).1 == false)
        #expect(try recipients([second.device, second.device, DeviceID(rawValue: 5)]).0 == [second])
        try store.succeed(.device(.unregister(topic: topic), by: first.credential))
        #expect(try recipients().0 == [second])
        #expect(try recipients([token.device]).0.isEmpty)
    }
}
