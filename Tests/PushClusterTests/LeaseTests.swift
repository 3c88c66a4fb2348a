// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// A node whose leases of two shards end and begin, with a device in shard 1.
struct LeaseTests {
    private final class Output: ClusterOutput {
        var batches: [(batch: ShardBatch, number: Int64, shard: Int)] = []
        var replies: [StoreReply] = []
        /// The number of rows in all batches.
        var rowCount = 0
        /// The ceilings of all heartbeats.
        var ceilings: [Int64] = []

        func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) {
            batches.append((batch, number, shard))
            rowCount += batch.writes.count
            ceilings += batch.heartbeat.map { [$0.idCeiling] } ?? []
        }

        func send(_ messages: [NodeMessage], to instance: InstanceID) {}
        func reply(_ replies: [StoreReply], toLoop loop: UInt32) { self.replies += replies }

        /// Whether each request of the provider was accepted.
        var answers: [Bool] {
            replies.compactMap {
                switch $0 {
                case .accepted(LeaseTests.provider): true
                case .refused(.serviceUnavailable, nil, LeaseTests.provider): false
                default: nil
                }
            }
        }

        /// The streams that were not opened.
        var refusedStreams: [ReplyAddress] {
            replies.compactMap { if case .performed(.failure(.unavailable), let stream) = $0 { stream } else { nil } }
        }

        var deliveredCount: Int {
            replies.reduce(0) { if case .deliver(let notifications, _) = $1 { $0 + notifications.count } else { $0 } }
        }
    }

    /// A wall clock that a test moves.
    private final class Clock: Sendable {
        private let offset = Lock<Int64>(0)
        let second = Lock<Int64>(1)
        /// The difference between PostgreSQL's clock and the right time.
        let shardOffsetSeconds = Lock<Int64>(0)

        var offsetSeconds: Int64 {
            get { offset.withLock { $0 } }
            set { offset.withLock { $0 = newValue } }
        }

        var now: Timestamp {
            Timestamp(unixMilliseconds: (1_800_000_000 + second.withLock { $0 } + offsetSeconds) * 1_000)
        }
    }

    private static let stream = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: 0)
    private static let later = ReplyAddress(loop: 0, slot: 2, generation: 0, exchange: 0)
    private static let provider = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: 1)
    private static let own = InstanceID(rawValue: 1 << 30)
    private static let device = DeviceID(rawValue: 512 << 53 + 1)

    private let output = Output()
    private let clock = Clock()
    private let store: ClusterStore

    /// Creates a node with both leases from second 1, and a stream of the device.
    init() {
        store = ClusterStore(
            NodeConfiguration(Self.own) { [clock] in clock.now }, slots: SlotMap(shardCount: 2), shardCount: 2,
            output: output)
        turn(at: 1) {
            for shard in 0...1 { $0.connected(toShard: shard) }
            $0.usesControl(version: 7, changed: 7)
            $0.usesControl(version: 7, onLoop: 0)
        }
        answer(at: 1)
        turn(at: 1) { $0.attach(Self.device, secretHash: [], stream: Self.stream) }
        answer(at: 1)
    }

    private func turn(at second: Int64, _ body: (ClusterStore) -> Void = { _ in }) {
        clock.second.withLock { $0 = second }
        store.beginTurn(at: MonotonicTime(nanoseconds: second * 1_000_000_000))
        body(store)
        store.endTurn()
    }

    /// Answers all batches of some shards; each reading finds a row.
    private func answer(_ shards: Set<Int> = [0, 1], at second: Int64, controlVersion: Int64 = 7) {
        while let place = output.batches.lastIndex(where: { shards.contains($0.shard) }) {
            let (batch, number, shard) = output.batches.remove(at: place)
            var result = ShardResult()
            let time = (1_800_000_000 + second + clock.shardOffsetSeconds.withLock { $0 }) * 1_000_000
            if let heartbeat = batch.heartbeat {
                let node = ShardResult.Node(
                    instance: Self.own, isLive: true, heardTransaction: 0, idCeiling: heartbeat.idCeiling)
                result.heartbeat = .init(
                    isTaken: false, time: time, controlVersion: controlVersion,
                    changes: [], nodes: [node])
            }
            result.attachments = batch.attachments.map { _ in .attached(earlier: nil) }
            result.readings = batch.readings.map { reading in
                .init(rows: reading.known.isEmpty ? [Self.row] : [], isMore: false, account: Self.account)
            }
            result.writes = batch.writes.map { _ in .written }
            result.looks = batch.looks.map { _ in nil }
            result.lookedAt = time
            turn(at: second) { $0.take(result, of: number, fromShard: shard) }
        }
    }

    private static let topic = TopicID(rawValue: 1)

    private static var account: ShardResult.Account {
        var account = ShardResult.Account()
        account.registrations = [
            (topic, RegistrationState(generation: 1, isLive: true, isRefused: false, endedAt: nil, hasExpired: false))
        ]
        return account
    }

    private static var row: ShardResult.Row {
        .init(key: RowKey(rawValue: 1), id: 1, topic: topic, expiresAt: nil, notification: notification)
    }

    private static var notification: Notification {
        Notification(
            address: DeviceTokenContents(device: device, topic: topic, generation: 1),
            apnsID: Array("00000000-0000-0000-0000-000000000000".utf8), uniqueID: UniqueID(high: 1, low: 1),
            suffixedTopic: "com.example.App", pushType: .alert, priority: 10, expiration: nil, collapseID: nil,
            payload: [], acceptedAt: Timestamp(unixMilliseconds: 1_800_000_000_000))
    }

    @Test func `rows that are read without the lease of shard 0 are not delivered, and are read again with it`() {
        #expect(output.deliveredCount == 1)
        output.replies = []
        // Only shard 1 answers.
        for second: Int64 in 2...6 {
            turn(at: second)
            answer([1], at: second)
        }
        turn(at: 6) { $0.attach(Self.device, secretHash: [], stream: Self.stream) }
        answer([1], at: 6)
        #expect(output.deliveredCount == 0)
        output.batches = []
        turn(at: 7) { $0.disconnected(fromShard: 0) }
        turn(at: 7) { $0.connected(toShard: 0) }
        answer(at: 7)
        #expect(output.deliveredCount == 1)
    }

    @Test(arguments: [-31, 31] as [Int64])
    func `a clock that differs by more than thirty seconds suspends the node until it is set`(seconds: Int64) {
        output.replies = []
        clock.offsetSeconds = seconds < 0 ? -29 : 29
        turn(at: 2)
        answer(at: 2)
        #expect(store.leaseMilliseconds > 0)
        clock.offsetSeconds = seconds
        turn(at: 3)
        answer(at: 3)
        #expect(store.leaseMilliseconds == 0 && store.presence.commits == false)
        // Another node can take the device, or this node can when its clock is right.
        turn(at: 3) { $0.attach(Self.device, secretHash: [], stream: Self.later) }
        #expect(output.refusedStreams == [Self.later])
        clock.offsetSeconds = 0
        turn(at: 4)
        answer(at: 4)
        turn(at: 4) { $0.attach(Self.device, secretHash: [], stream: Self.later) }
        answer(at: 4)
        #expect(store.leaseMilliseconds > 0 && output.deliveredCount == 1)
    }

    @Test(arguments: [-600, 600] as [Int64])
    func `while the clock of PostgreSQL is wrong, a node makes no numbers and records no ceiling of that time`(
        seconds: Int64
    ) throws {
        turn(at: 2) { $0.detach(stream: Self.stream) }
        answer(at: 2)
        (output.replies, output.ceilings) = ([], [])
        setShardClock(seconds, at: 3)
        var publicationCount = 0
        turn(at: 4) {
            $0.accept(Self.notification, answer: Self.provider)
            $0.attach(Self.device, secretHash: [], stream: Self.later)
            $0.publish(answer: Self.provider) { _ in publicationCount += 1 }
        }
        answer(at: 4)
        #expect(output.answers == [false] && output.refusedStreams == [Self.later] && publicationCount == 0)
        setShardClock(0, at: 5)
        output.replies = []
        turn(at: 6) { $0.accept(Self.notification, answer: Self.provider) }
        for second: Int64 in 6...10 {
            answer(at: second)
            turn(at: second)
        }
        #expect(output.answers == [true])
        let last = try #require(output.ceilings.max())
        #expect(NotificationIDLayout.milliseconds(of: last) < (1_800_000_000 + 20) * 1_000)
    }

    @Test func `after the clock was ahead by less than thirty seconds, answers wait for heartbeats, not for the clock`()
    {
        turn(at: 2) { $0.detach(stream: Self.stream) }
        answer(at: 2)
        setShardClock(25, at: 3)
        turn(at: 4) { $0.accept(Self.notification, answer: Self.provider) }
        answer(at: 4)
        setShardClock(0, at: 8)
        output.replies = []
        #expect(store.context.areNumbersAhead)
        turn(at: 9) { $0.accept(Self.notification, answer: Self.provider) }
        for second: Int64 in 9...14 {
            answer(at: second)
            turn(at: second)
        }
        #expect(output.answers == [true])
    }

    /// Lets PostgreSQL's clock differ from the right time, and sends a heartbeat, by which the node notices this.
    private func setShardClock(_ seconds: Int64, at second: Int64) {
        clock.shardOffsetSeconds.withLock { $0 = seconds }
        turn(at: second)
        answer(at: second)
    }

    @Test func `notifications that were refused during an outage are not written after it`() {
        turn(at: 2) { $0.disconnected(fromShard: 1) }
        turn(at: 2) { $0.detach(stream: Self.stream) }
        answer([0], at: 2)
        output.batches = []
        for second: Int64 in 3...60 {
            let answer = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: Int32(second))
            turn(at: second) { $0.accept(Self.notification, answer: answer) }
            self.answer([0], at: second)
        }
        let refusedCount = output.replies.count { if case .refused = $0 { true } else { false } }
        #expect(refusedCount == 48)
        turn(at: 60) { $0.connected(toShard: 1) }
        answer([1], at: 60)
        #expect(output.rowCount == 10)
    }

    @Test(arguments: [7, 8] as [Int64])
    func `a notification that waits longer than a lease is accepted, unless data for its check changed`(
        changed: Int64
    ) {
        turn(at: 2) { $0.disconnected(fromShard: 1) }
        turn(at: 2) { $0.detach(stream: Self.stream) }
        answer([0], at: 2)
        output.batches = []
        turn(at: 2) { $0.accept(Self.notification, answer: Self.provider) }
        for second: Int64 in 3...7 {
            turn(at: second)
            answer([0], at: second, controlVersion: 8)
        }
        output.replies = []
        turn(at: 7) { $0.connected(toShard: 1) }
        answer(at: 7, controlVersion: 8)
        #expect(output.rowCount == 1)
        // Version 8 is not read yet.
        #expect(output.replies.isEmpty)
        turn(at: 8) { $0.usesControl(version: 8, changed: changed) }
        answer(at: 8, controlVersion: 8)
        turn(at: 9)
        #expect(output.answers == [changed == 7])
    }

    /// Lets the lease of shard 0 end, while shard 1 answers.
    private func endLease() {
        turn(at: 2) { $0.disconnected(fromShard: 0) }
        turn(at: 2) { $0.detach(stream: Self.stream) }
        for second: Int64 in 3...7 {
            turn(at: second)
            answer([1], at: second)
        }
        output.replies = []
    }

    /// Begins the lease of shard 0 again, with an answer that names version 8 of the control data.
    private func beginLease() {
        turn(at: 7) { $0.connected(toShard: 0) }
        answer(at: 7, controlVersion: 8)
    }

    @Test(arguments: [7, 8] as [Int64])
    func `a notification that arrived without a lease is checked with the control data that the node reads`(
        changed: Int64
    ) {
        endLease()
        output.rowCount = 0
        turn(at: 7) { $0.accept(Self.notification, answer: Self.provider) }
        beginLease()
        // Nothing is written or shown before the node has read version 8.
        #expect(output.answers.isEmpty && output.rowCount == 0)
        turn(at: 7) { $0.usesControl(version: 8, changed: changed) }
        answer(at: 7, controlVersion: 8)
        turn(at: 8)
        #expect(output.answers == [changed == 7] && output.rowCount == (changed == 7 ? 1 : 0))
    }

    @Test func `a notification that is written when its device begins to move is accepted at the end of the move`() {
        turn(at: 2) { $0.detach(stream: Self.stream) }
        output.replies = []
        answer(at: 2)
        turn(at: 3) { $0.accept(Self.notification, answer: Self.provider) }
        answer(at: 3)
        // The node knows now that no node has the device, so the batch of this turn writes the notification.
        turn(at: 4) { $0.accept(Self.notification, answer: Self.provider) }
        turn(at: 4) { $0.set(SlotMap(rows: [.init(slot: 512, shard: 1, target: 0)])) }
        #expect(output.rowCount == 2)
        answer(at: 4)
        turn(at: 5)
        #expect(output.answers == [true])
        turn(at: 5) { $0.set(SlotMap(rows: [.init(slot: 512, shard: 0, former: 1)])) }
        answer(at: 5)
        turn(at: 6)
        #expect(output.answers == [true, true])
    }

    @Test(arguments: [7, 8] as [Int64])
    func `a broadcast that arrived without a lease is checked with the control data that the node reads`(
        changed: Int64
    ) {
        endLease()
        var publicationCount = 0
        turn(at: 7) { $0.publish(answer: Self.provider) { _ in publicationCount += 1 } }
        beginLease()
        #expect(output.replies.isEmpty && publicationCount == 0)
        turn(at: 7) { $0.usesControl(version: 8, changed: changed) }
        turn(at: 7)
        #expect(output.answers == (changed == 7 ? [] : [false]) && publicationCount == (changed == 7 ? 1 : 0))
    }

    @Test func `a broadcast without a lease is refused when the patience of its provider ends`() {
        endLease()
        turn(at: 7) { $0.publish(answer: Self.provider) { _ in Issue.record("it was published") } }
        for second: Int64 in 8...16 { turn(at: second) }
        #expect(output.replies.isEmpty)
        turn(at: 17)
        #expect(output.answers == [false])
    }

    @Test func `after a time without a lease, checks of a loop count once the loop uses the new control data`() {
        endLease()
        beginLease()
        turn(at: 7) { $0.usesControl(version: 8, changed: 8) }
        turn(at: 7) { $0.accept(Self.notification, answer: Self.provider) }
        answer(at: 7, controlVersion: 8)
        turn(at: 8)
        #expect(output.answers == [false])
        turn(at: 8) { $0.usesControl(version: 8, onLoop: 0) }
        turn(at: 8) { $0.accept(Self.notification, answer: Self.provider) }
        answer(at: 8, controlVersion: 8)
        turn(at: 9)
        #expect(output.answers == [false, true])
    }

    @Test func `with a lease, checks of a loop count even before the loop uses the new control data`() {
        turn(at: 2) { $0.detach(stream: Self.stream) }
        output.replies = []
        answer(at: 2, controlVersion: 8)
        turn(at: 3) { $0.usesControl(version: 8, changed: 8) }
        turn(at: 3) { $0.accept(Self.notification, answer: Self.provider) }
        answer(at: 3, controlVersion: 8)
        turn(at: 4)
        #expect(output.answers == [true])
    }

    @Test func `a node that cannot read the control data for longer than a lease accepts nothing until it can`() {
        output.replies = []
        turn(at: 2) { $0.detach(stream: Self.stream) }
        for second: Int64 in 2...6 {
            turn(at: second)
            answer(at: second, controlVersion: 6 + second)
        }
        #expect(store.leaseMilliseconds > 0)
        turn(at: 6) { $0.accept(Self.notification, answer: Self.provider) }
        answer(at: 6, controlVersion: 12)
        #expect(output.answers.isEmpty)
        // The node reads version 11, which a heartbeat of the last three seconds named as the newest one.
        turn(at: 6) { $0.usesControl(version: 11, changed: 7) }
        answer(at: 6, controlVersion: 12)
        turn(at: 7)
        #expect(output.answers == [true])
    }
}
