// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension Notification {
    /// Whether the notification has expiration 0, so that it is delivered immediately or not at all.
    var isNowOrNever: Bool { expirationUnixSeconds == 0 }

    /// Returns whether the notification has expired.
    ///
    /// Without an expiration, the maximum retention time applies. At the exact time of expiration the notification is
    /// still delivered.
    func isExpired(now: Int64) -> Bool {
        if let expirationUnixSeconds { return now > expirationUnixSeconds.millisecondsOfSeconds }
        let (end, isFar) = acceptedUnixMilliseconds.addingReportingOverflow(Limits.retentionSecondsMax * 1000)
        return !isFar && now > end
    }

    /// Returns the time at which the stored notification expires, in UNIX milliseconds; nil without an expiration.
    ///
    /// The result is the expiration, but not later than the retention time from now. Without an expiration, only the
    /// retention time applies.
    func expiryUnixMilliseconds(now: Int64, retentionSeconds: Int64) -> Int64? {
        guard let expirationUnixSeconds else { return nil }
        let (latest, overflow) = now.addingReportingOverflow(retentionSeconds * 1000)
        return min(expirationUnixSeconds.millisecondsOfSeconds, overflow ? Int64.max : latest)
    }
}

extension Broadcast {
    /// Whether the broadcast has expiration 0, so that it goes only to connected devices and is not stored.
    var isNowOrNever: Bool { expirationUnixSeconds == 0 }
}

extension Int64 {
    /// Seconds as milliseconds, clamped to the range of Int64, because providers may send any number.
    fileprivate var millisecondsOfSeconds: Int64 {
        let (milliseconds, overflow) = multipliedReportingOverflow(by: 1000)
        guard overflow else { return milliseconds }
        return self < 0 ? .min : .max
    }
}
