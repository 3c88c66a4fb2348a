// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

@Suite struct RegistrationExpiryTests {
    private static let lifeSeconds: Int64 = 20 * 24 * 3600
    private static let lifeMilliseconds = lifeSeconds * 1000
    private let startSeconds = TestStore.startMilliseconds / 1000

    /// Creates a store that sweeps continuously, with one registered device.
    private func sweeping(
        life: Int64? = RegistrationExpiryTests.lifeSeconds
    ) throws -> (TestStore, TestDevice, DeviceTokenContents) {
        let store = try TestStore {
            $0.sweepIntervalMilliseconds = 1
            $0.registrationLifeSeconds = life
        }
        let (device, token) = try store.registeredDevice()
        return (store, device, token)
    }

    /// Sets the clock and waits until a sweep has used it, which expires a probe notification.
    private func sweep(_ store: TestStore, at moment: Int64, _ token: DeviceTokenContents) throws {
        let before = try store.counts().expired
        try #require(try store.accept(.to(token, "probe", expiration: (store.clock.now + 999) / 1000)) == .accepted)
        store.clock.now = moment
        try wait(for: store) { $0.expired > before }
    }

    private func wait(for store: TestStore, until isDone: (AdminAPI.Counts) -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(30) * Patience.factor
        while try !isDone(store.counts()) { try #require(ContinuousClock.now < deadline) }
    }

    // MARK: Automatic expiration

    @Test func `registrations of an unseen device expire, and a later notification is refused with the time`() throws {
        let (store, device, token) = try sweeping()
        try store.accept(.to(token, "waits"))
        store.clock.now += Self.lifeMilliseconds + 1
        let expired = store.clock.now
        try wait(for: store) { $0.registrations == 0 }
        let counts = try store.counts()
        #expect(counts.unregistered == 1 && counts.pending == 0 && counts.devices == 1)
        store.clock.now += 5000
        #expect(try store.accept(.to(token, "a")) == .refused(.expiredToken, ended: expired))
        try store.reopen()
        #expect(try store.accept(.to(token, "a")) == .refused(.expiredToken, ended: expired))
        #expect(try store.device(device).topics == [])
    }

    @Test func `a registration is valid up to the last moment of its lifetime`() throws {
        let (store, _, token) = try sweeping()
        try sweep(store, at: TestStore.startMilliseconds + Self.lifeMilliseconds, token)
        #expect(try store.accept(.to(token, "a")) == .accepted)
    }

    @Test func `registrations without a lifetime, or with a huge one, never expire`() throws {
        for life in [nil, Int64.max, Int64.max / 1000] {
            let (store, _, token) = try sweeping(life: life)
            try sweep(store, at: TestStore.startMilliseconds + 100 * 365 * 24 * 3_600_000, token)
            #expect(try store.accept(.to(token, "a")) == .accepted)
        }
    }

    @Test func `a connected device keeps its registrations, however long it stays connected`() throws {
        let (store, device, token) = try sweeping()
        let (stream, _) = try store.attach(device)
        let left = TestStore.startMilliseconds + Self.lifeMilliseconds * 2
        try sweep(store, at: left, token)
        #expect(try store.accept(.to(token, "a")) == .accepted)
        _ = try store.run([.detach(stream: stream)])
        try sweep(store, at: left + 1000, token)
        try sweep(store, at: left + Self.lifeMilliseconds, token)
        #expect(try store.accept(.to(token, "b")) == .accepted)
        store.clock.now = left + Self.lifeMilliseconds + 1001
        try wait(for: store) { $0.registrations == 0 }
        #expect(try store.accept(.to(token, "c")) == .refused(.expiredToken, ended: store.clock.now))
    }

    @Test func `after a long stop of the server devices have a day to reconnect`() throws {
        let (store, device, token) = try sweeping()
        let late = try store.enrol(2)
        let lateToken = try store.register(late)
        store.store.stop()
        store.clock.now += Self.lifeMilliseconds * 3
        try store.reopen()
        let opened = store.clock.now
        try sweep(store, at: opened + 86_399_999, token)
        #expect(try store.counts().registrations == 2)
        _ = try store.acknowledge(device, [])
        store.clock.now = opened + 86_400_000
        try wait(for: store) { $0.registrations == 1 }
        #expect(try store.accept(.to(token, "a")) == .accepted)
        #expect(try store.accept(.to(lateToken, "a")) == .refused(.expiredToken, ended: store.clock.now))
    }

    @Test(arguments: [(0, true), (7_200_000, true), (7_200_001, false)] as [(Int64, Bool)])
    func `a short stop of the server does not extend registrations`(pause: Int64, expires: Bool) throws {
        let (store, _, token) = try sweeping()
        try sweep(store, at: TestStore.startMilliseconds + Self.lifeMilliseconds, token)
        store.store.stop()
        store.clock.now += pause
        try store.reopen()
        if expires {
            store.clock.now += 1
            try wait(for: store) { $0.registrations == 0 }
        } else {
            try sweep(store, at: store.clock.now + 60_000, token)
            #expect(try store.accept(.to(token, "a")) == .accepted)
        }
    }

    @Test func `registrations of many devices expire in several steps, except those of seen devices`() throws {
        let (store, _, _) = try sweeping()
        let gone = try (10..<260).map { try store.enrol($0) }
        for device in gone { try store.register(device) }
        store.clock.now += Self.lifeMilliseconds
        let kept = try store.enrol(5)
        let token = try store.register(kept)
        store.clock.now += 1
        try wait(for: store) { $0.registrations == 1 }
        #expect(try store.accept(.to(token, "a")) == .accepted)
    }

    @Test func `a device that returns gets a new token with a full lifetime`() throws {
        let (store, device, token) = try sweeping()
        store.clock.now += Self.lifeMilliseconds + 1
        let expired = store.clock.now
        try wait(for: store) { $0.registrations == 0 }
        let again = try store.register(device)
        #expect(again.generation == token.generation + 1)
        #expect(try store.accept(.to(again, "a")) == .accepted)
        #expect(try store.accept(.to(token, "a")) == .refused(.expiredToken, ended: expired))
        store.clock.now += Self.lifeMilliseconds + 1
        let expiredAgain = store.clock.now
        try wait(for: store) { $0.registrations == 0 }
        #expect(try store.accept(.to(again, "a")) == .refused(.expiredToken, ended: expiredAgain))
        #expect(try store.accept(.to(token, "a")) == .refused(.unregistered, ended: expiredAgain))
    }

    // MARK: Immediate expiration

    @Test func `an administrator can expire a device's registrations immediately, even while it is connected`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "waits"))
        let (stream, replies) = try store.attach(device)
        #expect(replies.texts(to: stream) == ["waits"])
        let command = StoreCommand.perform(.administer(device.id, .expire), answer: store.address())
        let after = try store.run([.accept(.to(token, "b"), answer: store.address()), command])
        #expect(after.texts(to: stream) == [])
        #expect(after.end(of: stream) == nil)
        let expired = store.clock.now
        store.clock.now += 7
        #expect(try store.accept(.to(token, "c")) == .refused(.expiredToken, ended: expired))
        #expect(try store.counts().unregistered == 2)
        let again = try store.register(device)
        #expect(try store.accept([.to(again, "d")]).1.texts(to: stream) == ["d"])
    }

    @Test func `an unregistered token does not become expired, nor an expired one unregistered`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        try store.succeed(.device(.unregister(topic: Station.topic), by: device.credential))
        let ended = store.clock.now
        store.clock.now += 5
        try store.succeed(.administer(device.id, .expire))
        #expect(try store.accept(.to(token, "a")) == .refused(.unregistered, ended: ended))
        let again = try store.register(device)
        try store.succeed(.administer(device.id, .expire))
        try store.succeed(.administer(device.id, .remove))
        #expect(try store.accept(.to(again, "a")) == .refused(.expiredToken, ended: store.clock.now))
        #expect(try store.refusal(.administer(device.id, .expire)) == .unknownDevice)
        #expect(try store.refusal(.administer(DeviceID(rawValue: .max), .expire)) == .unknownDevice)
    }

    // MARK: Last-seen times

    @Test(arguments: [(3_599_999 as Int64, false), (3_600_000, true), (-1, true)])
    func `a device's requests update its last-seen time once an hour, or when the clock was set back`(
        later: Int64, isNoted: Bool
    ) throws {
        let store = try TestStore()
        let (device, _) = try store.registeredDevice()
        store.clock.now += later
        _ = try store.acknowledge(device, [])
        let noted = isNoted ? store.clock.now : TestStore.startMilliseconds
        #expect(try store.device(device).seenAt?.unixSeconds == noted / 1000)
    }

    @Test func `a device counts as seen now while connected, and later as seen when it disconnected`() throws {
        let (store, device, token) = try sweeping()
        let (stream, _) = try store.attach(device)
        store.clock.now += 1_000_000
        #expect(try store.device(device).seenAt?.unixSeconds == startSeconds + 1000)
        _ = try store.run([.detach(stream: stream)])
        try sweep(store, at: store.clock.now + 1000, token)
        let seen = try #require(try store.device(device).seenAt?.unixSeconds)
        #expect((1000...1001).contains(seen - startSeconds))
    }

    @Test func `a device that is connected when the server stops counts as seen at that time`() throws {
        let store = try TestStore()
        let (device, _) = try store.registeredDevice()
        _ = try store.attach(device)
        store.clock.now += 90_000_000
        try store.reopen()
        #expect(try store.device(device).seenAt?.unixSeconds == startSeconds + 90_000)
    }
}
