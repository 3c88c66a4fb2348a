// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

/// Checks the limits of pending notifications of a device.
@Suite struct BoundsTests {
    // MARK: Teams

    /// Creates a store and a device with apps of two teams: the first has one app, the second many.
    private func crowd(
        appCount: Int, _ adjust: (inout SQLiteStore.Configuration) -> Void
    ) throws -> (TestStore, TestDevice, DeviceTokenContents, [DeviceTokenContents]) {
        let store = try TestStore(adjust)
        let (device, token) = try store.registeredDevice()
        let others = try (0..<appCount).map { number in
            let topic = TopicName("com.example.Other\(number)")
            try store.succeed(.control(.addApp(topic: topic, name: topic.text, teamID: "OTHER00000")))
            return try store.register(device, topic)
        }
        return (store, device, token, others)
    }

    @Test(arguments: [Int.max, 64])
    func `a team with ten apps on a device causes no drop of another team's notifications`(recentCountMax: Int) throws {
        let (store, device, token, others) = try crowd(appCount: 10) {
            $0.pendingPerDeviceCountMax = 1000
            $0.recentCountMax = recentCountMax
        }
        _ = try store.accept((0..<5).map { .to(token, "kept \($0)") })
        for other in others { _ = try store.accept((0..<100).map { .to(other, "\($0)") }) }
        #expect(try store.counts().dropped == 5 && store.counts().pending == 1000)
        let waiting = try store.waiting(device)
        #expect(waiting.prefix(5) == ["kept 0", "kept 1", "kept 2", "kept 3", "kept 4"])
    }

    @Test func `a full device drops the oldest notification of the fullest app of the fullest team`() throws {
        let (store, device, token, others) = try crowd(appCount: 2) { $0.pendingPerDeviceCountMax = 5 }
        _ = try store.accept([
            .to(token, "a"), .to(others[0], "b"), .to(token, "c"), .to(others[1], "d"), .to(others[1], "e"),
        ])
        try store.accept(.to(token, "f"))
        #expect(try store.waiting(device) == ["a", "b", "c", "e", "f"])
        // Now the first team has the most waiting, and it is the sender.
        try store.accept(.to(token, "g"))
        #expect(try store.waiting(device) == ["b", "c", "e", "f", "g"])
        // Among teams with equal counts, the sender's team loses a notification.
        try store.accept(.to(others[0], "h"))
        #expect(try store.waiting(device) == ["b", "e", "f", "g", "h"])
        #expect(try store.counts().dropped == 3)
    }

    @Test func `a full device first removes expired notifications of any team`() throws {
        let (store, device, token, others) = try crowd(appCount: 1) { $0.pendingPerDeviceCountMax = 3 }
        let expiration = TestStore.startMilliseconds / 1000 + 1
        _ = try store.accept([.to(token, "a", expiration: expiration), .to(others[0], "b"), .to(others[0], "c")])
        store.clock.now += 60_000
        try store.accept(.to(others[0], "d"))
        #expect(try store.waiting(device) == ["b", "c", "d"])
        #expect(try store.counts().expired == 1 && store.counts().dropped == 0)
    }

    // MARK: In flight

    /// Sends a burst to a connected device that acknowledges late; returns the texts that it received.
    private func burst(
        _ count: Int, _ adjust: (inout SQLiteStore.Configuration) -> Void = { _ in }
    ) throws -> (TestStore, TestDevice, Set<String>) {
        let store = try TestStore(adjust)
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        var got: Set<String> = []
        var replies: [StoreReply] = []
        for number in 0..<count { replies += try store.accept([.to(token, "\(number)").identified(UInt64(number))]).1 }
        while true {
            let delivered = replies.delivered(to: stream)
            for pending in delivered { #expect(got.insert(pending.text).inserted) }
            if delivered.isEmpty { break }
            replies = try store.acknowledge(device, delivered.map(\.sequence))
        }
        return (store, device, got)
    }

    @Test(arguments: [Int.max, 8])
    func `each notification of a burst is either delivered or recorded as dropped`(recentCountMax: Int) throws {
        let (store, _, got) = try burst(200) {
            ($0.recentCountMax, $0.pendingPerDeviceCountMax) = (recentCountMax, 100)
        }
        let counts = try store.counts()
        let window = Limits.unacknowledgedCountMax
        #expect(counts.dropped == 200 - 100 - window)
        #expect(counts.acknowledged == got.count && counts.dropped + got.count == 200 && counts.pending == 0)
        for number in 0..<200 {
            let steps = try store.steps(UInt64(number))
            #expect(steps.contains("acknowledged") == got.contains("\(number)"))
            #expect(steps.contains("dropped/too-many-of-device") != got.contains("\(number)"), "\(number): \(steps)")
        }
        #expect(got.isSuperset(of: (0..<window).map(String.init)))
    }

    @Test func `the limit of a device drops no notification that is in flight`() throws {
        let (store, _, got) = try burst(200) { $0.pendingPerDeviceCountMax = 10 }
        #expect(got.count == Limits.unacknowledgedCountMax + 10)
        #expect(try store.counts().dropped == 200 - got.count)
    }

    @Test func `a connected device loses none of a burst to the limit of an app`() throws {
        let (store, _, got) = try burst(200)
        #expect(got.count == 200)
        #expect(try store.counts().dropped == 0)
    }

    @Test func `what exceeds the limit of an app when the stream closes is kept`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        _ = try store.accept((0..<200).map { .to(token, "\($0)") })
        _ = try store.run([.detach(stream: stream)])
        #expect(try store.counts().pending == 200)
        _ = try store.accept((200..<300).map { .to(token, "\($0)") })
        let counts = try store.counts()
        #expect(counts.pending == 200 && counts.dropped == 100)
        #expect(try store.waiting(device).count == Limits.unacknowledgedCountMax)
    }

    @Test(arguments: [(0, 0), (59_999, 0), (60_000, 50)] as [(Int64, Int)])
    func `the limit of an app applies again a minute after the stream closed`(milliseconds: Int64, dropped: Int) throws
    {
        let store = try TestStore { $0.awayMilliseconds = 60_000 }
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        _ = try store.run([.detach(stream: stream)])
        store.clock.now += milliseconds
        _ = try store.accept((0..<150).map { .to(token, "\($0)") })
        #expect(try store.counts().dropped == dropped)
        store.clock.now += 60_000
        _ = try store.accept((0..<10).map { .to(token, "late \($0)") })
        #expect(try store.counts().dropped == dropped + 10)
    }

    @Test(arguments: [(true, 0, 0), (true, 59_999, 0), (true, 60_000, 50), (false, 0, 50)] as [(Bool, Int64, Int)])
    func `after a restart, devices that had a stream have a minute to come back`(
        wasConnected: Bool, milliseconds: Int64, dropped: Int
    ) throws {
        let store = try TestStore { $0.awayMilliseconds = 60_000 }
        let (device, token) = try store.registeredDevice()
        store.clock.now += 120_000
        if wasConnected { _ = try store.attach(device) }
        try store.reopen()
        store.clock.now += milliseconds
        _ = try store.accept((0..<150).map { .to(token, "\($0)") })
        #expect(try store.counts().dropped == dropped)
    }
}
