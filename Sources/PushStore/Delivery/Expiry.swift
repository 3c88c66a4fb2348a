// SPDX-License-Identifier: Apache-2.0

package import PushCore

extension Notification {
    /// Whether the notification has expiration 0, so that it is delivered immediately or not at all.
    package var isNowOrNever: Bool { expiration == .unixEpoch }

    /// Returns whether the notification has expired.
    ///
    /// Without an expiration, the maximum retention time applies. At the exact time of expiration the notification is
    /// still delivered.
    package func isExpired(now: Timestamp) -> Bool {
        now > (expiration ?? acceptedAt.advanced(bySeconds: Limits.retentionSecondsMax))
    }

    /// Returns the time at which the stored notification expires; nil without an expiration.
    ///
    /// The result is the expiration, but not later than the retention time from now. Without an expiration, only the
    /// retention time applies.
    func expiry(now: Timestamp, retentionSeconds: Int64) -> Timestamp? {
        expiration.map { min($0, now.advanced(bySeconds: retentionSeconds)) }
    }

    /// Returns the time after which the stored notification is deleted: its expiry, or the end of the retention time.
    package func deletionTime(now: Timestamp) -> Timestamp {
        let retention = Limits.retentionSecondsMax
        return expiry(now: now, retentionSeconds: retention) ?? acceptedAt.advanced(bySeconds: retention)
    }
}

extension Notification {
    /// Returns the time at which a broadcast expires that is stored now.
    ///
    /// The result is its expiration, but not later than the storage time of channels from now.
    func broadcastExpiry(now: Timestamp) -> Timestamp {
        let latest = now.advanced(bySeconds: Limits.broadcastStorageSecondsMax)
        return expiration.map { min($0, latest) } ?? latest
    }
}

extension Broadcast {
    /// Whether the broadcast has expiration 0, so that it goes only to connected devices and is not stored.
    package var isNowOrNever: Bool { expiration == .unixEpoch }
}
