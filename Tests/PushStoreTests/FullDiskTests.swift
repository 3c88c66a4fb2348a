// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite(.enabled(if: geteuid() == 0, "mounting a small file system needs root")) struct FullDiskTests {
    private let disk: SmallDisk
    private let store: TestStore
    private let device: TestDevice
    private let token: DeviceTokenContents
    private let ballast: String

    init() throws {
        disk = try SmallDisk(byteCount: 8 << 20)
        ballast = disk.directory.path(of: "ballast")
        store = try TestStore(path: disk.directory.path(of: "posthorn.sqlite")) {
            $0.pendingPerTopicCountMax = 100_000
        }
        (device, token) = try store.registeredDevice()
        try Data(count: 1 << 20).write(to: URL(fileURLWithPath: ballast))
    }

    /// Sends notifications until the disk is full; returns the accepted texts.
    private func fill() throws -> [String] {
        var accepted: [String] = []
        for batch in 0..<1000 {
            let texts = (0..<20).map { "\(batch).\($0) " + String(repeating: "x", count: 3000) }
            let answers = try store.accept(texts.map { .to(token, $0) }).0
            accepted += zip(texts, answers).filter { $0.1 == .accepted }.map(\.0)
            if answers.contains(.accepted) { continue }
            #expect(answers.allSatisfy { $0 == .refused(.serviceUnavailable, ended: nil) })
            return accepted
        }
        throw MissingReply(what: "the disk was never full")
    }

    /// Returns all waiting texts, in order, and acknowledges them.
    private func drain() throws -> [String] {
        var (stream, replies) = try store.attach(device)
        var texts: [String] = []
        while !replies.delivered(to: stream).isEmpty {
            let delivered = replies.delivered(to: stream)
            texts += delivered.map(\.text)
            replies = try store.acknowledge(device, delivered.map(\.sequence))
        }
        _ = try store.run([.detach(stream: stream)])
        stream = store.address()
        return texts
    }

    @Test func `a full disk refuses new notifications, and accepted ones are delivered and acknowledged`() throws {
        let accepted = try fill()
        try #require(accepted.count > 64)
        #expect(try drain() == accepted)
        let counts = try store.counts()
        #expect(counts.accepted == accepted.count && counts.acknowledged == accepted.count && counts.pending == 0)
        #expect(store.fatal.all == [])
    }

    @Test func `a full disk refuses requests that need space, and executes those that read or remove`() throws {
        let other = try store.enrol(2)
        try store.register(other)
        _ = try fill()
        // The rest of the last page may take a row or two.
        let refusals = try (100..<400).compactMap { number in
            try store.refusal(
                .control(
                    .addApp(topic: TopicName("\(number)" + String(repeating: "t", count: 200)), name: "", teamID: "")))
        }
        guard case .unavailable(let text) = refusals.last else {
            Issue.record("\(refusals)")
            return
        }
        #expect(text.contains("full"))
        #expect(try store.refusal(.control(.apps)) == nil)
        #expect(try store.refusal(.device(.unregister(topic: "com.example.App"), by: other.credential)) == nil)
        #expect(try store.refusal(.administer(other.id, .remove)) == nil)
        #expect(try store.counts().devices == 1)
    }

    @Test func `a full disk refuses broadcasts, and the last stored one is delivered and acknowledged`() throws {
        try store.succeed(.control(.changeApp(topic: Station.topic, name: nil, checks: nil, allowsBroadcasts: true)))
        let channel = TestChannel(id: ChannelID(high: 0, low: 0), topic: token.topic)
        try store.succeed(
            .control(
                .createChannel(
                    channel.id, topic: Station.topic, environment: .production, policy: .mostRecentMessageStored)))
        try store.subscribe(device, to: channel)
        try store.publish(.to(channel, "broadcast"))
        let accepted = try fill()
        let large = String(repeating: "x", count: Limits.broadcastPayloadByteCountMax)
        let answers = try store.publish((0..<20).map { _ in .to(channel, large) }).0
        #expect(answers.last == .refused(.serviceUnavailable, ended: nil))
        let drained = try drain()
        #expect(drained.filter { $0 != large } == ["broadcast"] + accepted)
        #expect(try drain() == [])
        try store.unsubscribe(device, from: channel)
        #expect(try store.subscriptions(device) == [])
    }

    @Test func `a full disk does not prevent now-or-never deliveries`() throws {
        try store.succeed(.control(.changeApp(topic: Station.topic, name: nil, checks: nil, allowsBroadcasts: true)))
        let channel = TestChannel(id: ChannelID(high: 0, low: 0), topic: token.topic)
        try store.succeed(
            .control(
                .createChannel(channel.id, topic: Station.topic, environment: .production, policy: .noMessageStored)))
        // This device has nothing stored, so that nothing it acknowledges makes space.
        let other = try store.enrol(2)
        let otherToken = try store.register(other)
        try store.subscribe(other, to: channel)
        _ = try fill()
        let (stream, _) = try store.attach(other)
        let stored = (0..<20).map { _ in Notification.to(otherToken, String(repeating: "x", count: 3000)) }
        let (answers, replies) = try store.accept(stored + [.to(otherToken, "now", expiration: 0)])
        #expect(answers.dropLast().allSatisfy { $0 == .refused(.serviceUnavailable, ended: nil) })
        #expect(answers.last == .accepted)
        #expect(replies.delivered(to: stream).map(\.text) == ["now"])
        let (published, others) = try store.publish([.to(channel, "all", expiration: 0)])
        #expect(published == [.accepted] && others.delivered(to: stream).map(\.text) == ["all"])
        #expect(store.fatal.all == [])
    }

    @Test func `a disk that notifications filled has space again after devices acknowledge them`() throws {
        let accepted = try fill()
        #expect(try drain() == accepted)
        let deadline = ContinuousClock.now + .seconds(30) * Patience.factor
        while try store.accept(.to(token, "after")) != .accepted { try #require(ContinuousClock.now < deadline) }
        // A slow machine may find space for one notification and fill the disk again.
        let notices = store.notices.all.map(\.code)
        #expect(notices.first == "store-disk-full" && notices.last == "store-space-returned", "\(notices)")
        #expect(try drain() == ["after"])
    }

    @Test func `notifications are accepted again when the disk has space`() throws {
        var accepted = try fill()
        try FileManager.default.removeItem(atPath: ballast)
        let deadline = ContinuousClock.now + .seconds(30) * Patience.factor
        while try store.accept(.to(token, "after")) != .accepted { try #require(ContinuousClock.now < deadline) }
        accepted.append("after")
        #expect(store.notices.all.map(\.code) == ["store-disk-full", "store-space-returned"])
        try store.reopen()
        #expect(try drain() == accepted)
    }

    @Test func `a store that stops on a full disk loses no accepted notification`() throws {
        let accepted = try fill()
        try store.reopen()
        #expect(try drain() == accepted)
        store.store.stop()
        let connection = try Connection(path: store.path, durability: .full, exclusive: true)
        let check = try connection.prepare("PRAGMA integrity_check")
        #expect(try check.step() && check.string(0) == "ok")
    }
}
