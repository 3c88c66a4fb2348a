// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// The notifications that wait on a node while one of two shards does not answer.
struct ShardLoadTests {
    /// Collects the messages of the node.
    private final class Output: ClusterOutput {
        var batches: [(batch: ShardBatch, number: Int64, shard: Int)] = []
        var refusedCount = 0

        func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) {
            batches.append((batch, number, shard))
        }

        func send(_ messages: [NodeMessage], to instance: InstanceID) {}

        func reply(_ replies: [StoreReply], toLoop loop: UInt32) {
            refusedCount += replies.count { if case .refused(.serviceUnavailable, _, _) = $0 { true } else { false } }
        }
    }

    private static let own = InstanceID(rawValue: 1 << 30)
    /// A device of each shard.
    private static let devices = [DeviceID(rawValue: 1), DeviceID(rawValue: 512 << 53 + 1)]

    private let output = Output()
    private let store: ClusterStore

    /// Creates a node that has heard from shard 0, so that it makes numbers.
    init() {
        let time = Timestamp(unixMilliseconds: 1_800_000_000_000)
        var configuration = NodeConfiguration(Self.own) { time }
        configuration.waitingCountMax = 3
        configuration.waitingByteCountMax = 1_000
        configuration.busyCount = 2
        store = ClusterStore(configuration, slots: SlotMap(shardCount: 2), shardCount: 2, output: output)
        turn {
            $0.connected(toShard: 0)
            $0.usesControl(version: 1, changed: 1)
            $0.usesControl(version: 1, onLoop: 0)
        }
        guard let (batch, number, _) = output.batches.popLast() else { return }
        var result = ShardResult()
        result.heartbeat = .init(
            isTaken: false, time: 1_800_000_000_000_000, controlVersion: 1, changes: [],
            nodes: [
                .init(instance: Self.own, isLive: true, heardTransaction: 0, idCeiling: batch.heartbeat?.idCeiling ?? 0)
            ])
        turn { $0.take(result, of: number, fromShard: 0) }
    }

    private func turn(_ body: (ClusterStore) -> Void) {
        store.beginTurn(at: MonotonicTime(nanoseconds: 1_000_000_000))
        body(store)
        store.endTurn()
    }

    /// Sends notifications to the device of a shard; returns how many of them were refused.
    private func refusedCount(of count: Int, toShard shard: Int, byteCount: Int = 0) -> Int {
        let before = output.refusedCount
        let notification = Notification(
            address: DeviceTokenContents(device: Self.devices[shard], topic: TopicID(rawValue: 1), generation: 1),
            apnsID: [], uniqueID: UniqueID(high: 1, low: 1), suffixedTopic: "t", pushType: .alert, priority: 10,
            expiration: nil, collapseID: nil, payload: [UInt8](repeating: 32, count: byteCount),
            acceptedAt: Timestamp(unixMilliseconds: 1_800_000_000_000))
        for number in 0..<count {
            let answer = ReplyAddress(loop: 0, slot: UInt32(shard), generation: 0, exchange: Int32(number))
            turn { $0.accept(notification, answer: answer) }
        }
        return output.refusedCount - before
    }

    @Test func `notifications that wait for one shard do not displace those for another`() {
        #expect(refusedCount(of: 10, toShard: 1) == 7)
        #expect(refusedCount(of: 3, toShard: 0) == 0)
        #expect(refusedCount(of: 1, toShard: 0) == 1)
    }

    @Test func `the size of payloads is limited for each shard`() {
        #expect(refusedCount(of: 2, toShard: 1, byteCount: 600) == 1)
        #expect(refusedCount(of: 1, toShard: 0, byteCount: 600) == 0)
    }

    @Test func `only a shard for which many notifications wait is busy`() {
        #expect(refusedCount(of: 2, toShard: 1) == 0)
        #expect(store.shards.queues.map(\.load.isBusy) == [false, true])
    }
}
