// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension Notification {
    /// Whether it is to be delivered now or never.
    var isNowOrNever: Bool { expirationUnixSeconds == 0 }

    /// Whether its expiration has passed, or without one the longest time that anything is kept; up to that very moment
    /// it is delivered.
    func isExpired(now: Int64) -> Bool {
        if let expirationUnixSeconds { return now > expirationUnixSeconds.millisecondsOfSeconds }
        let (end, isFar) = acceptedUnixMilliseconds.addingReportingOverflow(Limits.retentionSecondsMax * 1000)
        return !isFar && now > end
    }

    /// Until when it waits, UNIX milliseconds: its expiration, and at most the retention from now on; nil without an
    /// expiration, when only the retention counts.
    func expiryUnixMilliseconds(now: Int64, retentionSeconds: Int64) -> Int64? {
        guard let expirationUnixSeconds else { return nil }
        let (latest, overflow) = now.addingReportingOverflow(retentionSeconds * 1000)
        return min(expirationUnixSeconds.millisecondsOfSeconds, overflow ? Int64.max : latest)
    }
}

extension Broadcast {
    /// Whether it is for those who are connected now, and stored nowhere.
    var isNowOrNever: Bool { expirationUnixSeconds == 0 }
}

extension Int64 {
    /// Seconds as milliseconds, held at the ends of what fits: providers may write any number.
    fileprivate var millisecondsOfSeconds: Int64 {
        let (milliseconds, overflow) = multipliedReportingOverflow(by: 1000)
        guard overflow else { return milliseconds }
        return self < 0 ? .min : .max
    }
}
