// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// The numbers of a node that has a shard and a link to another node, both answered by the test.
struct NodeMetricsTests {
    private final class Output: ClusterOutput {
        var batches: [(batch: ShardBatch, number: Int64)] = []
        var messages: [NodeMessage] = []

        func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) { batches.append((batch, number)) }
        func send(_ messages: [NodeMessage], to instance: InstanceID) { self.messages += messages }
        func reply(_ replies: [StoreReply], toLoop loop: UInt32) {}
    }

    private static let own = InstanceID(rawValue: 1 << 30)
    private static let other = InstanceID(rawValue: 1 << 30 | 1 << 12)
    private static let device = DeviceID(rawValue: 1)

    private let output = Output()
    private let store: ClusterStore
    private let storeMetrics: StoreMetrics
    private let metrics: ClusterMetrics

    /// Creates a node with a lease.
    init() throws {
        let time = Timestamp(unixMilliseconds: 1_800_000_000_000)
        let configuration = NodeConfiguration(Self.own) { time }
        storeMetrics = configuration.metrics
        metrics = try #require(storeMetrics.cluster)
        store = ClusterStore(
            configuration, slots: SlotMap(shardCount: 1), shardCount: 1, output: output)
        turn(at: 0) {
            $0.linkChanged(to: Self.other, isUp: true)
            $0.connected(toShard: 0)
            $0.usesControl(version: 1, changed: 1)
        }
        answer(at: 0)
    }

    private func turn(at milliseconds: Int64, _ body: (ClusterStore) -> Void = { _ in }) {
        store.beginTurn(at: MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000))
        body(store)
        store.endTurn()
    }

    /// Answers all batches that were sent; the device has a host on the other node if `isElsewhere` is set.
    private func answer(at milliseconds: Int64, isElsewhere: Bool = false) {
        while let (batch, number) = output.batches.popLast() {
            var result = ShardResult()
            if batch.heartbeat != nil {
                let nodes = [Self.own, Self.other].map {
                    ShardResult.Node(instance: $0, isLive: true, heardTransaction: 0)
                }
                result.heartbeat = .init(
                    isTaken: false, time: 1_800_000_000_000_000, controlVersion: 1, changes: [], nodes: nodes)
            }
            result.attachments = batch.attachments.map { _ in .attached(earlier: nil) }
            result.readings = batch.readings.map { _ in .init(rows: [], isMore: false, account: .init()) }
            result.writes = batch.writes.map { _ in .written }
            let host = ShardResult.Host(instance: Self.other, epoch: 1, isLive: true)
            result.looks = batch.looks.map { _ in isElsewhere ? host : nil }
            turn(at: milliseconds) { $0.take(result, of: number, fromShard: 0) }
        }
    }

    private func accept(at milliseconds: Int64) {
        let notification = Notification(
            address: DeviceTokenContents(device: Self.device, topic: TopicID(rawValue: 1), generation: 1),
            apnsID: [], uniqueID: UniqueID(high: 1, low: .random(in: 1 ... .max)), suffixedTopic: "com.example.App",
            pushType: .alert, priority: 10, expiration: nil, collapseID: nil, payload: [1],
            acceptedAt: Timestamp(unixMilliseconds: 1_800_000_000_000))
        let address = ReplyAddress(loop: 0, slot: 0, generation: 0, exchange: 1)
        turn(at: milliseconds) { $0.accept(notification, answer: address) }
    }

    /// Returns the number of the only message that a closure accepts.
    private func number(_ take: (NodeMessage) -> Int64?) throws -> Int64 {
        defer { output.messages = [] }
        return try #require(output.messages.compactMap(take).first)
    }

    private func count(of histogram: DurationHistogram) -> (count: Int64, nanoseconds: Int64) {
        var snapshot = DurationHistogram.Snapshot()
        snapshot.add(histogram)
        return (snapshot.counts.reduce(0, +), snapshot.sumNanoseconds)
    }

    /// Sends a notification over the link, whose host is looked up first.
    private func push(at milliseconds: Int64) throws -> Int64 {
        accept(at: milliseconds)
        answer(at: milliseconds, isElsewhere: true)
        return try number { if case .push(let number, _, _) = $0 { number } else { nil } }
    }

    @Test(
        arguments: [
            (NodeMessage.PushResult.accepted, ClusterMetrics.PushEnd.accepted), (.notHere, .notHere), (.busy, .busy),
            (.refused(.unregistered, endedAt: nil), .refused),
        ])
    func `a push is counted by its answer and measured until then`(
        result: NodeMessage.PushResult, end: ClusterMetrics.PushEnd
    ) throws {
        let number = try push(at: 10)
        #expect(count(of: metrics.push).count == 0)
        turn(at: 17) { $0.take(.pushed(number: number, [(0, result)]), from: Self.other) }
        for known in ClusterMetrics.PushEnd.allCases { #expect(metrics.count(of: known) == (known == end ? 1 : 0)) }
        let (pushed, nanoseconds) = count(of: metrics.push)
        #expect(pushed == 1 && nanoseconds == 7_000_000)
        // Only the first answer to a notification counts.
        turn(at: 20) { $0.take(.pushed(number: number, [(0, result)]), from: Self.other) }
        #expect(metrics.count(of: end) == 1)
    }

    @Test func `a push without an answer is counted, and not measured`() throws {
        _ = try push(at: 10)
        turn(at: 600)
        #expect(metrics.count(of: .unanswered as ClusterMetrics.PushEnd) == 1 && count(of: metrics.push).count == 0)
    }

    @Test(arguments: ClusterMetrics.WakeEnd.allCases)
    func `a device that a wake names is counted by the answer`(end: ClusterMetrics.WakeEnd) throws {
        // A push that fails is written, and its host is told.
        let pushed = try push(at: 10)
        turn(at: 10) { $0.take(.pushed(number: pushed, [(0, .busy)]), from: Self.other) }
        answer(at: 10, isElsewhere: true)
        let number = try number { if case .wake(let number, _) = $0 { number } else { nil } }
        turn(at: 20) {
            switch end {
            case .here, .notHere: $0.take(.woken(number: number, [end == .here]), from: Self.other)
            case .unanswered: $0.linkChanged(to: Self.other, isUp: false)
            }
        }
        for known in ClusterMetrics.WakeEnd.allCases { #expect(metrics.count(of: known) == (known == end ? 1 : 0)) }
    }

    @Test func `a stream is measured until it is attached, and counted when it is registered again`() {
        let stream = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: 0)
        turn(at: 10) { $0.attach(Self.device, secretHash: [], stream: stream) }
        #expect(count(of: metrics.attachment).count == 0)
        answer(at: 14)
        let (attached, nanoseconds) = count(of: metrics.attachment)
        #expect(attached == 1 && nanoseconds == 4_000_000 && store.counters.registeredAgain == 0)
        turn(at: 20) { $0.apply(changed: [Self.device], saving: [:], in: ChangeGroup()) }
        answer(at: 30)
        #expect(count(of: metrics.attachment).count == 1 && store.counters.registeredAgain == 1)
    }

    @Test func `the time from a delivery to its acknowledgement is measured`() throws {
        let stream = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: 0)
        turn(at: 0) { $0.attach(Self.device, secretHash: [], stream: stream) }
        let registration = RegistrationState(
            generation: 1, isLive: true, isRefused: false, endedAt: nil, hasExpired: false)
        let (batch, number) = output.batches.removeLast()
        var result = ShardResult()
        result.attachments = [.attached(earlier: nil)]
        result.readings = [
            .init(rows: [], isMore: false, account: .init(registrations: [(TopicID(rawValue: 1), registration)]))
        ]
        result.looks = batch.looks.map { _ in nil }
        turn(at: 0) { $0.take(result, of: number, fromShard: 0) }
        accept(at: 10)
        let id = try #require(store.host.stream(of: Self.device)?.lastID)
        turn(at: 13) { $0.acknowledge([.init(id: id, outcome: .delivered)], by: Self.device) }
        let (acknowledged, nanoseconds) = count(of: storeMetrics.acknowledgement)
        #expect(acknowledged == 1 && nanoseconds == 3_000_000)
    }
}
