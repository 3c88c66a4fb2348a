// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The 1,024 parts of all devices, which are assigned to shards.
enum Slots {
    static let count = 1024

    /// Returns the slot of a device: the first ten of the 63 bits of its ID.
    static func slot(of device: DeviceID) -> Int { Int(device.rawValue >> 53) & (count - 1) }

    /// Returns the shard of a device when each shard has an equal range of slots.
    static func shard(of device: DeviceID, count shardCount: Int) -> Int { slot(of: device) * shardCount / count }
}
