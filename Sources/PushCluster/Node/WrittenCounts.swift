// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// Counts the notifications that this node writes for each device, so that the bounds are applied now and then.
struct WrittenCounts {
    private var counts: [DeviceID: Int] = [:]
    /// The devices to which the bounds must be applied, in order.
    private var due: [DeviceID] = []

    /// Counts a notification that was written.
    mutating func note(_ device: DeviceID) {
        let count = (counts[device] ?? 0) + 1
        guard count >= PostgresLimits.rowsWrittenUntilTrim else {
            // The bounds of devices whose counts are forgotten are applied later.
            if counts.count >= ClusterLimits.countedDeviceCountMax { counts.removeAll(keepingCapacity: true) }
            counts[device] = count
            return
        }
        counts[device] = nil
        due.append(device)
    }

    /// Returns the devices to which the bounds must be applied, and forgets them.
    mutating func takeDue() -> [DeviceID] {
        defer { due.removeAll() }
        return due
    }
}
