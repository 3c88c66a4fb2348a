// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// A node that waits until another one has heard of a notification, with two shards.
struct HearingTests {
    /// Collects the messages of the node.
    private final class Output: ClusterOutput {
        var batches: [(batch: ShardBatch, number: Int64, shard: Int)] = []
        var acceptedCount = 0

        func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) {
            batches.append((batch, number, shard))
        }

        func send(_ messages: [NodeMessage], to instance: InstanceID) {}

        func reply(_ replies: [StoreReply], toLoop loop: UInt32) {
            acceptedCount += replies.count { if case .accepted = $0 { true } else { false } }
        }
    }

    private static let own = InstanceID(rawValue: 1 << 30)
    private static let other = InstanceID(rawValue: 1 << 30 | 1 << 12)
    /// A device of shard 1, whose stream is on the other node.
    private static let device = DeviceID(rawValue: 512 << 53 + 1)

    private let output = Output()
    private let store: ClusterStore

    init() {
        let time = Timestamp(unixMilliseconds: 1_800_000_000_000)
        store = ClusterStore(
            NodeConfiguration(Self.own) { time }, slots: SlotMap(shardCount: 2), shardCount: 2, output: output)
        turn(at: 0) {
            for shard in 0...1 { $0.connected(toShard: shard) }
            $0.usesControl(version: 1, changed: 1)
            $0.usesControl(version: 1, onLoop: 0)
        }
    }

    private func turn(at milliseconds: Int64, _ body: (ClusterStore) -> Void = { _ in }) {
        store.beginTurn(at: MonotonicTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000))
        body(store)
        store.endTurn()
    }

    /// Answers all batches.
    ///
    /// The other node is live in shard 1, and has heard of the transactions before a number.
    private func answer(at milliseconds: Int64, isLiveInShard0: Bool, heard: Int64) {
        while let (batch, number, shard) = output.batches.popLast() {
            var result = ShardResult()
            let time = 1_800_000_000_000_000 + milliseconds * 1_000
            if batch.heartbeat != nil {
                result.heartbeat = .init(
                    isTaken: false, time: time, controlVersion: 1, changes: [],
                    nodes: [Self.own, Self.other].map { instance in
                        let isLive = instance == Self.own || shard == 1 || isLiveInShard0
                        return .init(instance: instance, isLive: isLive, heardTransaction: heard, idCeiling: .max)
                    })
            }
            result.writes = batch.writes.map { _ in .written }
            result.looks = batch.looks.map { _ in .init(instance: Self.other, epoch: 1, isLive: true) }
            result.lookedAt = time
            if !batch.changes.isEmpty { result.announcement = 5 }
            turn(at: milliseconds) { $0.take(result, of: number, fromShard: shard) }
        }
    }

    // A host that has just returned after a fail-over of shard 0 was taken for one that reads everything again.
    @Test func `a node that shard 0 takes for dead must hear of a notification of another shard`() {
        answer(at: 1, isLiveInShard0: false, heard: 0)
        let notification = Notification(
            address: DeviceTokenContents(device: Self.device, topic: TopicID(rawValue: 1), generation: 1),
            apnsID: [], uniqueID: UniqueID(high: 1, low: 1), suffixedTopic: "t", pushType: .alert, priority: 10,
            expiration: nil, collapseID: nil, payload: [], acceptedAt: Timestamp(unixMilliseconds: 1_800_000_000_000))
        let address = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: 1)
        turn(at: 2) { $0.accept(notification, answer: address) }
        for milliseconds: Int64 in stride(from: 10, through: 900, by: 10) {
            turn(at: milliseconds)
            answer(at: milliseconds, isLiveInShard0: false, heard: 5)
        }
        #expect(output.acceptedCount == 0)
        for milliseconds: Int64 in stride(from: 910, through: 1_200, by: 10) {
            turn(at: milliseconds)
            answer(at: milliseconds, isLiveInShard0: false, heard: 6)
        }
        #expect(output.acceptedCount == 1)
    }
}
