// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension Notification {
    /// Whether it is to be delivered now or never.
    var isNowOrNever: Bool { expirationUnixSeconds == 0 }

    /// Whether its expiration has passed; up to that very moment it is delivered.
    func isExpired(now: Int64) -> Bool {
        guard let expirationUnixSeconds else { return false }
        return now > expirationUnixSeconds.millisecondsOfSeconds
    }

    /// Until when it waits, UNIX milliseconds: its expiration, and at most the retention from now on.
    func expiryUnixMilliseconds(now: Int64, retentionSeconds: Int64) -> Int64 {
        let (latest, overflow) = now.addingReportingOverflow(retentionSeconds * 1000)
        let bound = overflow ? Int64.max : latest
        guard let expirationUnixSeconds else { return bound }
        return min(expirationUnixSeconds.millisecondsOfSeconds, bound)
    }
}

extension Int64 {
    /// Seconds as milliseconds, held at the ends of what fits: providers may write any number.
    fileprivate var millisecondsOfSeconds: Int64 {
        let (milliseconds, overflow) = multipliedReportingOverflow(by: 1000)
        guard overflow else { return milliseconds }
        return self < 0 ? .min : .max
    }
}
