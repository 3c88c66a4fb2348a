// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The queues of all shards, and the assignment of devices to them.
final class ClusterShards {
    let queues: [ShardQueue]
    /// Gathers the statements about devices that move to another shard, without sending them.
    let parked: ShardQueue
    private(set) var slots: SlotMap
    /// The batch of each queue that was under way when the assignment changed, by its number; nil without one.
    private var lastNumbers: [Int64?] = []

    init(_ slots: SlotMap, count: Int, _ context: NodeContext) {
        self.slots = slots
        queues = (0..<count).map { ShardQueue($0, context) }
        parked = ShardQueue(count, context)
    }

    /// The shard with the control data.
    var first: ShardQueue { queues[0] }

    subscript(device: DeviceID) -> ShardQueue {
        slots.isMoving(device) ? parked : queues[slots.shard(of: device)]
    }

    /// Returns whether notifications for a device may be accepted and delivered.
    func hasLease(of device: DeviceID) -> Bool { self[device].hasLease && first.hasLease }

    /// Whether this node has a lease of each shard.
    var haveLeases: Bool { queues.allSatisfy(\.hasLease) }

    /// Whether all batches that were sent before the current assignment are answered.
    var isSettled: Bool { zip(queues, lastNumbers).allSatisfy { $1.map($0.hasAnswered) ?? true } }

    /// Uses another assignment.
    ///
    /// - Parameter new: The assignment.
    /// - Returns: The statements that were not sent yet, which the caller must add to the queues again.
    func set(_ new: SlotMap) -> [GatheredBatch] {
        slots = new
        lastNumbers = queues.map(\.numberUnderWay)
        return (queues + [parked]).map { $0.takeUnsent() }
    }
}
