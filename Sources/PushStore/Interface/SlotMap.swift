// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The assignment of slots to shards; each device belongs to one of 1,024 slots.
package struct SlotMap: Equatable, Sendable {
    package static let slotCount = 1024

    /// A row of the table `slots`.
    package struct Row {
        var slot: Int
        var shard: Int
        /// The shard to which the slot moves; nil unless it moves.
        var target: Int?
        /// The shard that may still have rows of the slot after a move; nil without one.
        var former: Int?

        package init(slot: Int, shard: Int, target: Int? = nil, former: Int? = nil) {
            (self.slot, self.shard, self.target, self.former) = (slot, shard, target, former)
        }
    }

    /// The shard of each slot.
    private var shards: [Int]
    /// The slots that move to another shard; during the move, no node may change their devices.
    private var moving: Set<Int> = []
    /// Whether a former shard may still have rows of slots that moved.
    package private(set) var hasLeftovers = false
    /// The number of shards that a node needs: one more than the highest shard that has or gets slots, or left some.
    package private(set) var shardCount = 1

    /// Creates a map that divides the slots equally among a number of shards.
    package init(shardCount: Int) {
        shards = (0..<Self.slotCount).map { $0 * shardCount / Self.slotCount }
        self.shardCount = shardCount
    }

    /// Creates a map from the rows of the table `slots`; slots without a row belong to shard 0.
    package init(rows: some Sequence<Row>) {
        shards = Array(repeating: 0, count: Self.slotCount)
        for row in rows where shards.indices.contains(row.slot) {
            shards[row.slot] = row.shard
            if row.target != nil { moving.insert(row.slot) }
            if row.former != nil { hasLeftovers = true }
            shardCount = max(shardCount, row.shard + 1, (row.target ?? 0) + 1, (row.former ?? 0) + 1)
        }
    }

    /// Returns the slot of a device: the ten highest of the 63 bits of its ID.
    package static func slot(of device: DeviceID) -> Int { Int(device.rawValue >> 53) & (slotCount - 1) }

    package func shard(of device: DeviceID) -> Int { shards[Self.slot(of: device)] }

    /// Whether any slot moves to another shard.
    package var hasMoving: Bool { !moving.isEmpty }

    /// Returns whether a device moves to another shard.
    package func isMoving(_ device: DeviceID) -> Bool { !moving.isEmpty && moving.contains(Self.slot(of: device)) }

    /// Returns the number of slots of a shard.
    package func slotCount(of shard: Int) -> Int { shards.count { $0 == shard } }
}
