// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point in time by the wall clock, in milliseconds.
///
/// Administrators and NTP can set the wall clock, so a timestamp that is read later may be smaller. A timestamp from a
/// peer may be any number: every calculation stays in the range instead of overflowing.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The milliseconds since 1970; negative before.
    public let unixMilliseconds: Int64

    /// Creates a time from milliseconds since 1970.
    public init(unixMilliseconds: Int64) { self.unixMilliseconds = unixMilliseconds }

    /// Creates a time from seconds since 1970; seconds out of range become `distantPast` or `distantFuture`.
    public init(unixSeconds: Int64) {
        let secondsMax = Int64.max / 1000
        if unixSeconds > -secondsMax, unixSeconds < secondsMax {
            unixMilliseconds = unixSeconds * 1000
        } else {
            unixMilliseconds = unixSeconds < 0 ? .min : .max
        }
    }

    /// The start of 1970; several formats use its number, 0, for a time that is not set or for now or never.
    public static var unixEpoch: Timestamp { Timestamp(unixMilliseconds: 0) }

    /// The earliest time.
    public static var distantPast: Timestamp { Timestamp(unixMilliseconds: .min) }

    /// The latest time.
    public static var distantFuture: Timestamp { Timestamp(unixMilliseconds: .max) }

    /// The current time by `CLOCK_REALTIME`.
    public static var now: Timestamp {
        var time = timespec()
        let code = unsafe clock_gettime(CLOCK_REALTIME, &time)
        precondition(code == 0, "clock_gettime failed: errno \(errno)")
        return Timestamp(unixMilliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// The seconds since 1970, rounded down.
    public var unixSeconds: Int64 {
        unixMilliseconds >= 0 ? unixMilliseconds / 1000 : (unixMilliseconds + 1) / 1000 - 1
    }

    /// The time rounded down to a whole second.
    public var roundedDownToSeconds: Timestamp { Timestamp(unixSeconds: unixSeconds) }

    /// Returns the time this many milliseconds later, limited to the range.
    public func advanced(byMilliseconds milliseconds: Int64) -> Timestamp {
        let (sum, isOverflow) = unixMilliseconds.addingReportingOverflow(milliseconds)
        guard isOverflow else { return Timestamp(unixMilliseconds: sum) }
        return milliseconds < 0 ? .distantPast : .distantFuture
    }

    /// Returns the time this many seconds later, limited to the range.
    public func advanced(bySeconds seconds: Int64) -> Timestamp {
        let (milliseconds, isOverflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard isOverflow else { return advanced(byMilliseconds: milliseconds) }
        return seconds < 0 ? .distantPast : .distantFuture
    }

    /// Returns the milliseconds from an earlier time to this one, limited to the range.
    public func milliseconds(since earlier: Timestamp) -> Int64 {
        let (difference, isOverflow) = unixMilliseconds.subtractingReportingOverflow(earlier.unixMilliseconds)
        guard isOverflow else { return difference }
        return unixMilliseconds < 0 ? .min : .max
    }

    /// Returns the difference between the whole seconds of an earlier time and of this one.
    public func seconds(since earlier: Timestamp) -> Int64 { unixSeconds - earlier.unixSeconds }

    /// Returns whether a time is earlier than another one.
    public static func < (one: Timestamp, other: Timestamp) -> Bool { one.unixMilliseconds < other.unixMilliseconds }
}
