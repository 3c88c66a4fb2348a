// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PushAPI
package import PushCore

/// Formats and computes times in the local time zone.
package enum LocalTime {
    /// The last second of 9999-12-31; later years have five digits, so later times are printed as a number.
    private static let unixSecondsMax: Int64 = 253_402_300_799

    /// Formats a time in the local time zone, for example `2026-11-21 20:15:09+0100`.
    package static func text(_ time: Timestamp) -> String {
        var seconds = time_t(clamping: time.unixSeconds)
        var parts = unsafe tm()
        let isKnown = unsafe localtime_r(&seconds, &parts) != nil
        return text(time, offsetSeconds: isKnown ? unsafe parts.tm_gmtoff : 0)
    }

    /// Formats a time in the time zone that is `offsetSeconds` east of UTC.
    package static func text(_ time: Timestamp, offsetSeconds: Int) -> String {
        guard time >= .unixEpoch, time.unixSeconds <= unixSecondsMax, let zone = TimeZone(secondsFromGMT: offsetSeconds)
        else {
            return "\(time.unixSeconds) s after 1970"
        }
        let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: zone)
        return Date(timeIntervalSince1970: Double(time.unixSeconds)).formatted(style)
    }

    /// Returns the local weekday and minute of the day.
    static func weekTime(_ time: Timestamp) -> QuietSchedule.LocalTime {
        let parts = unsafe parts(time)
        return QuietSchedule.LocalTime(
            weekday: unsafe (Int(parts.tm_wday) + 6) % 7, minute: unsafe Int(parts.tm_hour) * 60 + Int(parts.tm_min))
    }

    /// Returns the next time when the local clock shows `HH:MM`; nil if the text is not a valid time of day.
    package static func next(_ text: String, after now: Timestamp) -> Timestamp? {
        let numbers = text.split(separator: ":", omittingEmptySubsequences: false)
        guard numbers.count == 2, numbers.allSatisfy({ $0.utf8.count <= 2 && $0.utf8.allSatisfy(isDigit) }),
            let hour = UInt8(numbers[0]), let minute = UInt8(numbers[1]), hour < 24, minute < 60
        else { return nil }
        for day in Int32(0)...1 {
            var parts = unsafe parts(now)
            unsafe parts.tm_mday += day
            unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (Int32(hour), Int32(minute), 0, -1)
            let moment = unsafe Timestamp(unixSeconds: Int64(mktime(&parts)))
            if moment > now { return moment }
        }
        return nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func parts(_ time: Timestamp) -> tm {
        var seconds = time_t(clamping: time.unixSeconds)
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        return unsafe parts
    }

    /// The current time, in whole seconds.
    package static var now: Timestamp { .now.roundedDownToSeconds }
}
