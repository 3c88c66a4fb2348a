// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A point in time of a clock that never jumps.
///
/// Nearly all of them are of the clock of all timers (`CLOCK_MONOTONIC`), which stops while the machine sleeps.
package struct MonotonicTime: Comparable, Sendable {
    /// The nanoseconds since a fixed time before startup.
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The current time, read with `clock_gettime(2)`.
    package static var now: MonotonicTime { now(on: CLOCK_MONOTONIC) }

    /// The current time of the clock that continues while the machine sleeps (`CLOCK_BOOTTIME`).
    ///
    /// Compare it only with other times of this clock.
    package static var elapsed: MonotonicTime { now(on: CLOCK_BOOTTIME) }

    private static func now(on clock: clockid_t) -> MonotonicTime {
        var time = timespec()
        let code = unsafe clock_gettime(clock, &time)
        precondition(code == 0, "clock_gettime failed: errno \(errno)")
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// A time that has always passed.
    package static var past: MonotonicTime { MonotonicTime(nanoseconds: 0) }

    /// A time that never comes.
    package static var future: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    // MARK: Later times

    /// Returns the time this many nanoseconds later; `future` if that does not fit.
    package func advanced(byNanoseconds nanoseconds: Int64) -> MonotonicTime {
        let (sum, isTooFar) = self.nanoseconds.addingReportingOverflow(nanoseconds)
        return isTooFar ? .future : MonotonicTime(nanoseconds: sum)
    }

    /// Returns the time this many milliseconds later.
    package func advanced(byMilliseconds milliseconds: Int64) -> MonotonicTime {
        advanced(byNanoseconds: milliseconds * 1_000_000)
    }

    /// Returns the time this many seconds later.
    package func advanced(bySeconds seconds: Int64) -> MonotonicTime {
        advanced(byNanoseconds: seconds * 1_000_000_000)
    }

    /// Returns the time after a duration, rounded up to nanoseconds.
    ///
    /// - Parameter duration: The duration; a negative one counts as zero.
    /// - Returns: The time; `future` if it does not fit.
    package func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return self }
        let (nanoseconds, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = nanoseconds.addingReportingOverflow((attoseconds + 999_999_999) / 1_000_000_000)
        return isTooLong || overflows ? .future : advanced(byNanoseconds: sum)
    }

    // MARK: Differences

    /// Returns the nanoseconds since an earlier time; negative if that time is later.
    package func nanoseconds(since earlier: MonotonicTime) -> Int64 { nanoseconds - earlier.nanoseconds }

    /// Returns the milliseconds since an earlier time, rounded up.
    package func milliseconds(since earlier: MonotonicTime) -> Int64 {
        (nanoseconds(since: earlier) + 999_999) / 1_000_000
    }

    /// Returns the duration since an earlier time; negative if that time is later.
    package func duration(since earlier: MonotonicTime) -> Duration { .nanoseconds(nanoseconds(since: earlier)) }

    // MARK: Order

    // All operators are spelled out, because the default ones of `Comparable` call `<` through the witness table when
    // another module uses them.

    package static func == (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds == right.nanoseconds }
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
    package static func <= (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds <= right.nanoseconds }
    package static func > (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds > right.nanoseconds }
    package static func >= (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds >= right.nanoseconds }
}
