// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Wall clock.
package enum WallClock {
    /// Milliseconds since 1970 by `CLOCK_REALTIME`, which may jump either way.
    package static func unixMilliseconds() -> Int64 {
        let time = now(on: CLOCK_REALTIME)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Goes on while the machine sleeps, and never jumps.
package enum ElapsedClock {
    /// Milliseconds since some moment before start-up by `CLOCK_BOOTTIME`.
    package static func milliseconds() -> Int64 {
        let time = now(on: CLOCK_BOOTTIME)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// The clock of all timers: it never jumps, and it stands still while the machine sleeps.
enum MonotonicClock {
    /// Nanoseconds since some moment before start-up by `CLOCK_MONOTONIC`.
    static func nanoseconds() -> UInt64 {
        let time = now(on: CLOCK_MONOTONIC)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Reads a clock with `clock_gettime(2)`, which cannot fail for the clocks above.
private func now(on clock: clockid_t) -> timespec {
    var time = timespec()
    let code = unsafe clock_gettime(clock, &time)
    precondition(code == 0, "clock_gettime failed: errno \(errno)")
    return time
}
