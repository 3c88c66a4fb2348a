// SPDX-License-Identifier: Apache-2.0

/// The clock that never jumps and keeps running while the machine sleeps.
package enum ElapsedClock {
    /// Returns the milliseconds since a fixed time before startup by `CLOCK_BOOTTIME`.
    package static func milliseconds() -> Int64 { MonotonicTime.elapsed.nanoseconds / 1_000_000 }
}
