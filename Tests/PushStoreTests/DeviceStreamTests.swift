// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

/// Checks the streams of devices while administrators and the devices change them.
@Suite struct DeviceStreamTests {
    private let store: any StreamTarget
    private let app: TopicName = "com.example.App"

    init() throws {
        store = try StoreEngine.openStreams()
        try store.addApp()
    }

    @Test func `a device has a maximum number of registrations`() throws {
        let device = try store.enrol()
        let topics = (0..<Limits.registrationPerDeviceCountMax + 1).map { TopicName("com.example.\($0)") }
        let adding = topics.map { topic in
            StoreCommand.perform(.control(.addApp(topic: topic, name: "", teamID: "")), answer: store.address())
        }
        _ = try store.run(adding)
        _ = try store.run(
            topics.dropLast().map {
                .perform(.device(.register(topic: $0), by: device.credential), answer: store.address())
            })
        #expect(try store.counts().registrations == Limits.registrationPerDeviceCountMax)
        #expect(try store.refusal(.device(.register(topic: topics.last ?? ""), by: device.credential)) == .tooMany)
        try store.succeed(.device(.unregister(topic: topics[0]), by: device.credential))
        try store.register(device, topics.last ?? "")
    }

    @Test func `unregistering ends the token, drops pending notifications and stops deliveries`() throws {
        let device = try store.enrol()
        let token = try store.register(device)
        let (stream, _) = try store.attach(device)
        store.clock.now += 1
        let refused = store.address()
        let replies = try store.run([
            .accept(.to(token, "a"), answer: store.address()),
            .accept(.to(token, "now", expiration: 0), answer: store.address()),
            .perform(.device(.unregister(topic: app), by: device.credential), answer: store.address()),
            .accept(.to(token, "b"), answer: refused),
        ])
        #expect(replies.delivered(to: stream).isEmpty)
        let ended = replies.contains { reply in
            if case .refused(.unregistered, let ended, refused) = reply {
                ended?.unixMilliseconds == store.clock.now
            } else {
                false
            }
        }
        #expect(ended)
        #expect(try store.counts().unregistered == 1)
        #expect(try store.counts().pending == 0)
        #expect(try store.waiting(device) == [])
    }

    @Test(arguments: [(Limits.acknowledgementBatchCountMax, true), (Limits.acknowledgementBatchCountMax + 1, false)])
    func `a list of acknowledgements has a maximum length, and outcomes of unknown numbers do not count`(
        count: Int, fits: Bool
    ) throws {
        let device = try store.enrol()
        try store.accept(.to(try store.register(device), "the first"))
        let acknowledgements = (0..<count).map { DeviceAPI.Acknowledgement(id: Int64($0), outcome: .viewed) }
        let refusal = try store.refusal(.device(.acknowledge(acknowledgements), by: device.credential))
        #expect(refusal == (fits ? nil : .tooMany))
        #expect(try store.counts().outcomes["viewed"] == (fits ? 1 : 0))
    }

    @Test func `a device was last seen when its stream ended, before and after that time is written`() throws {
        let device = try store.enrol()
        try store.register(device)
        let (stream, _) = try store.attach(device)
        store.clock.now += 7_200_000
        _ = try store.run([.detach(stream: stream)])
        let end = Timestamp(unixMilliseconds: store.clock.now)
        store.clock.now += 14_000
        #expect(try store.device(device).seenAt == end)
        try store.reopen()
        #expect(try store.device(device).seenAt == end)
        store.clock.now += 1000
        _ = try store.attach(device)
        store.clock.now += 1000
        try store.reopen()
        #expect(try store.device(device).seenAt?.unixMilliseconds == store.clock.now)
    }

    @Test func `a device has the version of the agent that last opened its stream`() throws {
        let device = try store.enrol()
        #expect(try store.device(device).agent == "")
        for agent in ["posthorn-agent/1", "posthorn-agent/2"] {
            _ = try store.run([.attach(device.credential, stream: store.address(), agent: agent)])
            #expect(try store.device(device).agent == agent)
            try store.reopen()
            #expect(try store.device(device).agent == agent)
        }
    }

    @Test(.bothEngines, .namesEngine, arguments: [true, false])
    func `removing a device ends its stream, its tokens and its secret`(bySelf: Bool) throws {
        let device = try store.enrol()
        let token = try store.register(device)
        let (stream, _) = try store.attach(device)
        try store.accept(.to(token, "a"))
        store.clock.now += 9
        let request: StoreRequest =
            bySelf ? .device(.remove, by: device.credential) : .administer(device.id, .remove)
        let replies = try store.run([.perform(request, answer: store.address())])
        #expect(replies.end(of: stream) == .removed)
        let ended = store.clock.now
        store.clock.now += 9
        #expect(try store.accept(.to(token, "b")) == .refused(.unregistered, ended: ended))
        #expect(try store.refusal(.device(.register(topic: app), by: device.credential)) == .unauthorized)
        #expect(try store.refusal(.administer(device.id, .remove)) == .unknownDevice)
        #expect(try store.refusal(.administer(device.id, .describe)) == .unknownDevice)
        let counts = try store.counts()
        #expect(counts.devices == 0 && counts.devicesConnected == 0 && counts.registrations == 0)
        #expect(counts.pending == 0 && counts.unregistered == 1)
    }
}
