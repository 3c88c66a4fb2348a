// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

@Suite struct ExpiryTests {
    private let store: any StreamTarget
    private let device: TestDevice
    private let token: DeviceTokenContents
    private let startSeconds = TestStore.startMilliseconds / 1000

    init() throws {
        store = try StoreEngine.openStreams()
        (device, token) = try store.registeredDevice()
    }

    @Test(
        .bothEngines, .namesEngine,
        arguments: [
            (Int64.min, true), (-1, true), (1, true), (1_799_999_999, true), (1_800_000_000, false),
            (1_800_000_001, false), (Int64.max, false),
        ])
    func `a notification that has expired is accepted and never delivered`(expiration: Int64, isExpired: Bool) throws {
        #expect(try store.accept(.to(token, "a", expiration: expiration)) == .accepted)
        #expect(try store.counts().expired == (isExpired ? 1 : 0))
        #expect(try store.waiting(device) == (isExpired ? [] : ["a"]))
    }

    @Test(.bothEngines, .namesEngine)
    func `a notification is kept up to its expiration and not one millisecond longer`() throws {
        try store.accept(.to(token, "a", expiration: startSeconds + 60))
        store.clock.now += 60_000
        #expect(try store.waiting(device) == ["a"])
        store.clock.now += 1
        #expect(try store.waiting(device) == [])
    }

    @Test(
        .bothEngines, .namesEngine,
        arguments: [nil, Int64.max, 1_800_000_000 + Limits.retentionSecondsMax + 1] as [Int64?])
    func `a notification without an expiration, or with a late one, is kept for 30 days`(expiration: Int64?) throws {
        try store.accept(.to(token, "a", expiration: expiration))
        store.clock.now += Limits.retentionSecondsMax * 1000
        #expect(try store.waiting(device) == ["a"])
        store.clock.now += 1
        #expect(try store.waiting(device) == [])
    }

    @Test(arguments: [false, true])
    func `a full queue removes expired notifications before it drops others`(isReopened: Bool) throws {
        let store = try TestStore { $0.pendingPerTopicCountMax = 3 }
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a"))
        for text in ["b", "c"] { try store.accept(.to(token, text, expiration: startSeconds + 60)) }
        store.clock.now += 60_001
        if isReopened { try store.reopen() }
        for text in ["d", "e"] { try store.accept(.to(token, text)) }
        let counts = try store.counts()
        #expect(counts.expired == 2 && counts.dropped == 0 && counts.pending == 3)
        #expect(try store.waiting(device) == ["a", "d", "e"])
        try store.accept(.to(token, "f"))
        #expect(try store.waiting(device) == ["d", "e", "f"])
        #expect(try store.counts().dropped == 1)
    }

    @Test(.bothEngines, .namesEngine)
    func `restarts do not change a notification's expiration`() throws {
        try store.accept(.to(token, "a", expiration: startSeconds + 60))
        for _ in 0..<5 {
            store.clock.now += 10_000
            try store.reopen()
        }
        store.clock.now += 10_000
        #expect(try store.waiting(device) == ["a"])
        try store.reopen()
        store.clock.now += 1
        #expect(try store.waiting(device) == [])
    }

    @Test func `a swept notification does not return when the clock is set back`() throws {
        let store = try TestStore { $0.sweepIntervalMilliseconds = 1 }
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a", expiration: startSeconds + 60))
        store.clock.now += 60_001
        try waitForSweep(of: 1, in: store)
        store.clock.now -= 7_200_000
        #expect(try store.waiting(device) == [])
    }

    @Test func `a sweep removes exactly the expired notifications, in several steps`() throws {
        let store = try TestStore {
            $0.sweepIntervalMilliseconds = 1
            $0.pendingPerTopicCountMax = 10_000
        }
        let (device, token) = try store.registeredDevice()
        _ = try store.accept((0..<2500).map { .to(token, "\($0)", expiration: startSeconds + 60) })
        try store.accept(.to(token, "late", expiration: startSeconds + 61))
        store.clock.now += 60_001
        try waitForSweep(of: 2500, in: store)
        #expect(try store.counts().pending == 1)
        #expect(try store.waiting(device) == ["late"])
    }

    @Test func `a notification that expires frees its place in the window`() throws {
        let store = try TestStore { $0.sweepIntervalMilliseconds = 1 }
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        let count = Limits.unacknowledgedCountMax
        _ = try store.accept((0..<count).map { .to(token, "\($0)", expiration: startSeconds + 60) })
        let replies = try store.accept([.to(token, "late")]).1
        #expect(replies.delivered(to: stream).isEmpty)
        store.clock.now += 60_001
        let late = try store.collectors[0].take("the one behind the window") { replies in
            !replies.delivered(to: stream).isEmpty
        }
        #expect(late.delivered(to: stream).map(\.text) == ["late"])
    }

    private func waitForSweep(of count: Int, in store: TestStore) throws {
        let deadline = ContinuousClock.now + .seconds(30) * Patience.factor
        while try store.counts().expired < count { try #require(ContinuousClock.now < deadline) }
        #expect(try store.counts().expired == count)
    }

    // MARK: Now-or-never notifications

    @Test(.bothEngines, .namesEngine)
    func `a now-or-never notification without a stream is accepted, expired and never stored`() throws {
        #expect(try store.accept(.to(token, "a", expiration: 0)) == .accepted)
        #expect(try store.counts().expired == 1)
        #expect(try store.counts().pending == 0)
        #expect(try store.waiting(device) == [])
    }

    @Test func `a now-or-never notification with a stream is sent once, pending until acknowledged, and never stored`()
        throws
    {
        let (stream, _) = try store.attach(device)
        let delivered = try store.accept([.to(token, "a", expiration: 0)]).1.delivered(to: stream)
        #expect(delivered.count == 1 && delivered.allSatisfy { $0.sequence > 0 })
        #expect(try store.counts().pending == 1)
        _ = try store.acknowledge(device, delivered.map(\.sequence))
        let counts = try store.counts()
        #expect(counts.pending == 0 && counts.expired == 0 && counts.acknowledged == 1)
        #expect(try store.waiting(device) == [])
    }

    @Test func `an unacknowledged now-or-never notification expires when its stream closes`() throws {
        let (stream, _) = try store.attach(device)
        _ = try store.accept([.to(token, "a", expiration: 0)])
        _ = try store.run([.detach(stream: stream)])
        let counts = try store.counts()
        #expect(counts.pending == 0 && counts.expired == 1)
        #expect(try store.waiting(device) == [])
    }

    @Test(arguments: [Limits.unacknowledgedCountMax - 1, Limits.unacknowledgedCountMax])
    func `a now-or-never notification expires if the window is full`(unacknowledgedCount: Int) throws {
        let (stream, _) = try store.attach(device)
        _ = try store.accept((0..<unacknowledgedCount).map { .to(token, "\($0)") })
        let hasRoom = unacknowledgedCount < Limits.unacknowledgedCountMax
        let delivered = try store.accept([.to(token, "now", expiration: 0)]).1.delivered(to: stream)
        #expect(delivered.map(\.text) == (hasRoom ? ["now"] : []))
        #expect(try store.counts().expired == (hasRoom ? 0 : 1))
    }

    @Test(.bothEngines, .namesEngine)
    func `a now-or-never notification keeps its place among pending ones`() throws {
        _ = try store.accept([.to(token, "a"), .to(token, "b")])
        let stream = store.address()
        let replies = try store.run([
            .attach(device.credential, stream: stream),
            .accept(.to(token, "now", expiration: 0), answer: store.address()),
            .accept(.to(token, "c"), answer: store.address()),
        ])
        #expect(replies.delivered(to: stream).map(\.text) == ["a", "b", "now", "c"])
    }

    @Test(.bothEngines, .namesEngine)
    func `a now-or-never notification expires if pending ones fill the window`() throws {
        _ = try store.accept((0..<Limits.unacknowledgedCountMax).map { .to(token, "\($0)") })
        let stream = store.address()
        let replies = try store.run([
            .attach(device.credential, stream: stream),
            .accept(.to(token, "now", expiration: 0), answer: store.address()),
        ])
        #expect(replies.delivered(to: stream).count == Limits.unacknowledgedCountMax)
        #expect(!replies.delivered(to: stream).map(\.text).contains("now"))
        #expect(try store.counts().expired == 1)
    }
}
