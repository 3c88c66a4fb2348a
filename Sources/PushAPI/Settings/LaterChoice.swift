// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushCore

/// The standard times to which the user can put something off; the panel and the command line share them.
package enum LaterChoice: String, CaseIterable, Sendable {
    case oneHour = "1h"
    /// The next time that the local clock shows 18:00.
    case thisEvening = "evening"
    /// The next time that the local clock shows 07:00.
    case tomorrowMorning = "tomorrow"

    /// Returns the time that the choice means, in the local time zone.
    package func time(after now: Timestamp) -> Timestamp {
        switch self {
        case .oneHour: now.advanced(bySeconds: 3600)
        case .thisEvening: LocalMoment.next(minute: 18 * 60, after: now)
        case .tomorrowMorning: LocalMoment.next(minute: 7 * 60, after: now)
        }
    }
}

/// Computes times from the local clock.
package enum LocalMoment {
    /// Returns the next time when the local clock shows the given minute of the day.
    ///
    /// - Parameters:
    ///   - minute: The minutes after midnight, 0 to 1439.
    ///   - now: The current time.
    /// - Returns: The time, also across a change to or from daylight-saving time.
    package static func next(minute: Int, after now: Timestamp) -> Timestamp {
        // The time zone may have changed since the program started, because laptops travel.
        tzset()
        var seconds = time_t(clamping: now.unixSeconds)
        var today = unsafe tm()
        guard unsafe localtime_r(&seconds, &today) != nil else { return now.advanced(bySeconds: 86_400) }
        for day in Int32(0)...2 {
            var parts = unsafe today
            unsafe parts.tm_mday += day
            unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (
                Int32(minute / 60), Int32(minute % 60), 0, -1
            )
            let moment = unsafe Timestamp(unixSeconds: Int64(mktime(&parts)))
            if moment > now { return moment }
        }
        return now.advanced(bySeconds: 86_400)
    }
}
