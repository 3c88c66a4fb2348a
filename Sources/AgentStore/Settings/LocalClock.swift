// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushAPI
package import PushCore

/// The wall clock in the user's time zone.
package enum LocalClock {
    /// Returns the weekday and the minute of the day in the user's time zone.
    package static func time(at time: Timestamp) -> QuietSchedule.LocalTime {
        var moment = time_t(time.unixSeconds)
        var parts = unsafe tm()
        // The time zone may have changed since the agent started, because laptops travel.
        tzset()
        unsafe localtime_r(&moment, &parts)
        return QuietSchedule.LocalTime(
            weekday: unsafe (Int(parts.tm_wday) + 6) % 7, minute: unsafe Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }
}
