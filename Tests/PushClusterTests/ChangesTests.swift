// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// The devices that a node finds in the table `changes` with its heartbeats.
struct ChangesTests {
    private final class Output: ClusterOutput {
        var batches: [(batch: ShardBatch, number: Int64)] = []

        func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) { batches.append((batch, number)) }
        func send(_ messages: [NodeMessage], to instance: InstanceID) {}
        func reply(_ replies: [StoreReply], toLoop loop: UInt32) {}
    }

    private let output = Output()
    private let context = NodeContext(NodeConfiguration(InstanceID(rawValue: 1)) { .unixEpoch })
    private let queue: ShardQueue

    init() {
        context.moment = MonotonicTime(nanoseconds: 1_000_000_000)
        queue = ShardQueue(0, context)
        queue.connected()
    }

    /// Sends a heartbeat; returns its first transaction, and the devices that are new to the node.
    private func beat(
        finds positions: [Int64], leastUnended: Int64
    ) throws -> (leastTransaction: Int64, devices: [UInt64]) {
        context.moment = context.moment.advanced(byMilliseconds: 1_000)
        queue.sendIfDue(to: output)
        let (batch, number) = try #require(output.batches.last)
        _ = queue.take(number)
        let devices = queue.heard(
            .init(
                isTaken: false, time: 0, controlVersion: 0,
                changes: positions.map { .init(position: $0, device: DeviceID(rawValue: UInt64($0))) }, nodes: [],
                leastUnendedTransaction: leastUnended), sentAt: context.moment)
        return (try #require(batch.heartbeat).leastTransaction, devices.map(\.rawValue))
    }

    @Test func `a heartbeat asks for changes since the first unended transaction, and returns each once`() throws {
        var (least, devices) = try beat(finds: [1, 2], leastUnended: 50)
        #expect(least == 0 && devices == [1, 2])
        // Position 2 belongs to transaction 51, and position 3 to transaction 50, which ended later.
        (least, devices) = try beat(finds: [2, 3], leastUnended: 60)
        #expect(least == 50 && devices == [3])
        (least, devices) = try beat(finds: [], leastUnended: 61)
        #expect(least == 60 && devices == [])
    }

    @Test func `a heartbeat asks for everything if the server has lost transactions`() throws {
        _ = try beat(finds: [], leastUnended: 50)
        _ = try beat(finds: [], leastUnended: 40)
        #expect(try beat(finds: [], leastUnended: 41).leastTransaction == 0)
        #expect(try beat(finds: [], leastUnended: 41).leastTransaction == 41)
    }

    @Test func `a batch announces each device once`() throws {
        for device: UInt64 in [1, 2, 1, 1] { queue.announce(DeviceID(rawValue: device)) }
        queue.sendIfDue(to: output)
        #expect(output.batches.first?.batch.changes == [DeviceID(rawValue: 1), DeviceID(rawValue: 2)])
    }
}
