// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// The notifications that wait for devices, as requests need them.
protocol WaitingNotifications: AnyObject {
    /// Removes the notifications of a device, or of an app on it; returns them.
    func remove(of device: DeviceID, topic: TopicID?) throws(SQLError) -> [PendingTable.Removed]

    /// Returns the number of notifications that wait for a device, with the broadcasts that its channels store.
    func pendingCount(of device: DeviceID) throws(SQLError) -> Int
}
