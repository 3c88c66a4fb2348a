// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The clock that never jumps and keeps running while the machine sleeps.
package enum ElapsedClock {
    /// Returns the milliseconds since a fixed time before startup by `CLOCK_BOOTTIME`.
    package static func milliseconds() -> Int64 {
        let time = now(on: CLOCK_BOOTTIME)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Reads a clock with `clock_gettime(2)`, which cannot fail for the clocks above.
private func now(on clock: clockid_t) -> timespec {
    var time = timespec()
    let code = unsafe clock_gettime(clock, &time)
    precondition(code == 0, "clock_gettime failed: errno \(errno)")
    return time
}
