// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A time of the monotonic clock.
struct MonotonicTime: Comparable {
    let nanoseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// A time that has always passed.
    static var past: MonotonicTime { MonotonicTime(nanoseconds: 0) }

    /// A time that never comes.
    static var future: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// Returns the time this many milliseconds later.
    func advanced(byMilliseconds milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + milliseconds * 1_000_000)
    }

    /// Returns the milliseconds since an earlier time, rounded up.
    func milliseconds(since earlier: MonotonicTime) -> Int64 {
        (nanoseconds - earlier.nanoseconds + 999_999) / 1_000_000
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The time as a C library function takes it.
    var specification: timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
