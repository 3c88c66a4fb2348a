// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct EnvironmentTests {
    private let store: any RequestTarget
    private let device: TestDevice

    init() throws {
        store = try StoreEngine.open()
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
}
