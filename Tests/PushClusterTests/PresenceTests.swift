// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// A node that is cut off from PostgreSQL, while it still has a link to another one.
struct PresenceTests {
    private final class Output: ClusterOutput {
        var batches: [(batch: ShardBatch, number: Int64)] = []
        var messages: [NodeMessage] = []
        var replies: [StoreReply] = []

        func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) { batches.append((batch, number)) }
        func send(_ messages: [NodeMessage], to instance: InstanceID) { self.messages += messages }
        func reply(_ replies: [StoreReply], toLoop loop: UInt32) { self.replies += replies }

        var hasGoodbye: Bool { replies.contains { if case .ended(.shutdown, _) = $0 { true } else { false } } }
        var presences: [NodeMessage.Presence] {
            messages.compactMap { if case .here(_, let presence) = $0 { presence } else { nil } }
        }
    }

    private static let stream = ReplyAddress(loop: 0, slot: 1, generation: 0, exchange: 0)
    private static let own = InstanceID(rawValue: 1 << 30)
    private static let other = InstanceID(rawValue: 1 << 30 | 1 << 12)

    private let output = Output()
    private let store: ClusterStore

    /// Creates a node with a lease from second 1 and a stream.
    init() {
        let time = Timestamp(unixMilliseconds: 1_800_000_000_000)
        store = ClusterStore(
            NodeConfiguration(Self.own) { time }, slots: SlotMap(shardCount: 1), shardCount: 1, output: output)
        turn(at: 1) {
            $0.linkChanged(to: Self.other, isUp: true)
            $0.connected(toShard: 0)
        }
        answer(at: 1)
        turn(at: 1) { $0.attach(DeviceID(rawValue: 1), secretHash: [], stream: Self.stream) }
        answer(at: 1)
    }

    private func turn(at second: Int64, _ body: (ClusterStore) -> Void = { _ in }) {
        store.beginTurn(at: MonotonicTime(nanoseconds: second * 1_000_000_000))
        body(store)
        store.endTurn()
    }

    /// Answers all batches that were sent.
    private func answer(at second: Int64) {
        while let (batch, number) = output.batches.popLast() {
            var result = ShardResult()
            if batch.heartbeat != nil {
                let node = ShardResult.Node(instance: Self.own, isLive: true, heardTransaction: 0)
                result.heartbeat = .init(
                    isTaken: false, time: 1_800_000_000_000_000, controlVersion: 7, changes: [], nodes: [node])
            }
            result.attachments = batch.attachments.map { _ in .attached(earlier: nil) }
            result.readings = batch.readings.map { _ in .init(rows: [], isMore: false, account: .init()) }
            result.looks = batch.looks.map { _ in nil }
            turn(at: second) { $0.take(result, of: number, fromShard: 0) }
        }
    }

    private func hear(at second: Int64, commits: Bool) {
        let presence = NodeMessage.Presence(
            commits: commits, controlVersion: 7, connectionCount: 3, clockDifferenceMilliseconds: nil)
        turn(at: second) { $0.take(.here(number: 0, presence), from: Self.other) }
    }

    @Test func `a node tells once a second whether it commits`() {
        #expect(output.presences.map(\.commits) == [false])
        turn(at: 2)
        turn(at: 2)
        #expect(output.presences.map(\.commits) == [false, true])
        #expect(output.presences.last?.connectionCount == 1 && output.presences.last?.controlVersion == 7)
        turn(at: 9)
        #expect(output.presences.map(\.commits) == [false, true, false])
    }

    @Test func `streams end ten seconds after the lease if another node commits, and return with the lease`() {
        for second: Int64 in 2...13 { hear(at: second, commits: true) }
        #expect(!output.hasGoodbye && store.streamCount == 1)
        hear(at: 14, commits: true)
        #expect(output.hasGoodbye && store.streamCount == 0)
        output.replies = []
        turn(at: 14) { $0.attach(DeviceID(rawValue: 1), secretHash: [], stream: Self.stream) }
        #expect(store.streamCount == 0)
        // The batch that was under way is lost with the connection.
        output.batches = []
        turn(at: 15) { $0.disconnected(fromShard: 0) }
        turn(at: 15) { $0.connected(toShard: 0) }
        answer(at: 15)
        turn(at: 15) { $0.attach(DeviceID(rawValue: 1), secretHash: [], stream: Self.stream) }
        #expect(store.streamCount == 1)
    }

    @Test func `streams stay while no other node commits`() {
        for second: Int64 in 2...30 { hear(at: second, commits: false) }
        #expect(!output.hasGoodbye && store.streamCount == 1)
        hear(at: 31, commits: true)
        #expect(output.hasGoodbye)
    }

    @Test func `what a node told before its link was lost does not count`() {
        hear(at: 13, commits: true)
        turn(at: 14) { $0.linkChanged(to: Self.other, isUp: false) }
        turn(at: 15)
        #expect(!output.hasGoodbye)
    }
}
