// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

extension ShardBatch {
    /// The number of rows to read for each device, including those in the window, which are left out afterwards.
    var rowCountMax: Int64 {
        Int64(ClusterLimits.rowsPerReadingCountMax + (readings.map(\.known.count).max() ?? 0))
    }

    /// The indices of `writes` in the order in which they are written.
    ///
    /// All nodes use this order, so that their transactions do not deadlock.
    var writeOrder: [Int] {
        writes.indices.sorted { left, right in
            let (left, right) = (writes[left], writes[right])
            let devices = (
                left.pending.notification.address.device.stored, right.pending.notification.address.device.stored
            )
            return devices.0 == devices.1 ? left.key.rawValue < right.key.rawValue : devices.0 < devices.1
        }
    }
}
