// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore

/// The clock on the person's wall.
enum LocalClock {
    /// Weekday and minute of a moment in the person's time zone.
    static func time(atUnixSeconds seconds: Int64) -> QuietSchedule.LocalTime {
        var moment = time_t(seconds)
        var parts = unsafe tm()
        // The zone may have changed since the agent started: a laptop travels.
        tzset()
        unsafe localtime_r(&moment, &parts)
        return QuietSchedule.LocalTime(
            weekday: unsafe (Int(parts.tm_wday) + 6) % 7, minute: unsafe Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }
}
