// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct PolicyTests {
    private let store: any RequestTarget
    private let desk = TestDevice(number: 1)
    private let lamp = TestDevice(number: 2)

    init() throws {
        store = try StoreEngine.open()
        try store.addApp()
        for number in [1, 2] as [UInt64] { _ = try store.enrol(number) }
    }

    private func key(
        _ setting: Setting, _ device: TestDevice? = nil, topic: TopicName? = nil
    ) -> PolicyRequest.RuleKey {
        PolicyRequest.RuleKey(device: device?.id, topic: topic, setting: setting)
    }

    private func asked(_ request: PolicyRequest) throws -> (rules: [PolicyRule], version: Int64) {
        guard case .policy(let rules, let version) = try store.succeed(.control(.policy(request))) else {
            throw MissingReply(what: "policies")
        }
        return (rules, version)
    }

    private func values(_ device: TestDevice) throws -> [String] {
        guard case .policy(let rules, _) = try store.succeed(.device(.policy, by: device.credential)) else {
            throw MissingReply(what: "policies")
        }
        return rules.map { "\($0.topic ?? "*") \($0.setting) \($0.value)" }
    }

    @Test func `a rule for one device overrides the rule for all, and each change has a version`() throws {
        #expect(try asked(.all) == ([], 0))
        #expect(try asked(.set(key(.silent), value: "on", isLocked: false)).version == 1)
        _ = try asked(.set(key(.silent, lamp), value: "off", isLocked: true))
        _ = try asked(.set(key(.sound, topic: "com.example.App"), value: "off", isLocked: true))
        #expect(try values(desk) == ["* silent on", "com.example.App sound off"])
        #expect(try values(lamp) == ["* silent off", "com.example.App sound off"])
        try store.reopen()
        #expect(try asked(.all).version == 3)
        #expect(try asked(.remove(key(.silent, lamp))).version == 4)
        #expect(try values(lamp) == ["* silent on", "com.example.App sound off"])
        #expect(try store.refusal(.control(.policy(.remove(key(.silent, lamp))))) == .unknownPolicy)
        #expect(try asked(.all).version == 4)
    }

    @Test func `a rule requires an existing device or app and is removed with it`() throws {
        let nobody = TestDevice(number: 9)
        #expect(try store.refusal(.device(.policy, by: nobody.credential)) == .unauthorized)
        let unknown = PolicyRequest.set(key(.silent, nobody), value: "on", isLocked: false)
        #expect(try store.refusal(.control(.policy(unknown))) == .unknownDevice)
        let elsewhere = PolicyRequest.set(key(.sound, topic: "com.example.Other"), value: "on", isLocked: false)
        #expect(try store.refusal(.control(.policy(elsewhere))) == .unknownTopic)
        _ = try asked(.set(key(.silent, lamp), value: "on", isLocked: false))
        _ = try asked(.set(key(.sound, topic: "com.example.App"), value: "off", isLocked: false))
        try store.succeed(.administer(lamp.id, .remove))
        #expect(try asked(.all).rules.map(\.setting) == ["sound"])
        try store.succeed(.control(.removeApp(topic: "com.example.App")))
        #expect(try asked(.all) == ([], 3))
    }
}
