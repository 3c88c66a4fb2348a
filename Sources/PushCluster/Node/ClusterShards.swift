// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The queues of all shards, and the assignment of devices to them.
final class ClusterShards {
    let queues: [ShardQueue]
    /// Gathers what is asked about devices that move to another shard, and sends nothing.
    let parked: ShardQueue
    private(set) var slots: SlotMap
    /// The numbers of the batches that were under way when slots began to move; nil without any.
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

    /// Whether all shards have a lease.
    var haveLeases: Bool { queues.allSatisfy(\.hasLease) }

    /// Whether the batches are answered that were sent before slots began to move.
    var isSettled: Bool { zip(queues, lastNumbers).allSatisfy { $1.map($0.hasAnswered) ?? true } }

    /// Uses another assignment.
    ///
    /// - Parameter new: The assignment.
    /// - Returns: What was not sent to the former shards of devices, and must be asked again.
    func set(_ new: SlotMap) -> [GatheredBatch] {
        slots = new
        lastNumbers = queues.map(\.numberUnderWay)
        return (queues + [parked]).map { $0.takeUnsent() }
    }
}
