// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushSQL

/// Finds the device that has a credential, and records when devices were last seen.
final class DeviceAuthentication {
    private let devices: DeviceTable
    private let transaction: StoreTransaction
    private let bounds: StoreBounds

    init(_ devices: DeviceTable, _ transaction: StoreTransaction, _ bounds: StoreBounds) {
        self.devices = devices
        self.transaction = transaction
        self.bounds = bounds
    }

    /// Returns whether a device exists and is not removed.
    func isLive(_ device: DeviceID) throws(SQLError) -> Bool {
        guard let stored = Int64(exactly: device.rawValue) else { return false }
        return try devices.find(stored) != nil
    }

    /// Records the times at which devices were last seen.
    func noteSeen(_ seen: some Sequence<(device: DeviceID, at: Timestamp)>) throws(SQLError) {
        for (device, time) in seen { try devices.noteSeen(device, at: time) }
    }

    /// Returns the live device that has a credential; records that it was seen, unless its last-seen time is recent.
    func identify(_ credential: DeviceCredential) throws(SQLError) -> DeviceID? {
        guard let identity = try devices.authenticate(credential) else { return nil }
        // A full disk must not be used for last-seen times.
        if transaction.allowance == .growing, isStale(identity, now: transaction.now) {
            try devices.noteSeen(identity.device, at: transaction.now)
        }
        return identity.device
    }

    /// Returns the live device that has a credential; nil if it cannot be read.
    func device(with credential: DeviceCredential) -> DeviceID? { try? devices.authenticate(credential)?.device }

    /// Returns whether a device's recorded last-seen time is too old, or in the future because the clock was wrong.
    func isStale(_ identity: DeviceTable.Identity, now: Timestamp) -> Bool {
        guard let seen = identity.seenAt, !identity.isDormant, seen <= now else { return true }
        return now.milliseconds(since: seen)
            >= WriterLimits.seenIntervalMilliseconds(life: bounds.registrationLifeSeconds)
    }
}
