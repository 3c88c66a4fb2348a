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

    /// Formats a time in the local time zone without the zone, for example `2026-11-21 20:15:09`.
    static func shortText(_ time: Timestamp) -> String { String(text(time).prefix(19)) }

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
        return LocalMoment.next(minute: Int(hour) * 60 + Int(minute), after: now)
    }

    /// Parses a later time as users type it: `2h`, `evening`, `tomorrow`, `18:30` or `2026-11-27 18:30`.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - now: The current time.
    /// - Returns: The time, which may be in the past; nil if the text has another form.
    static func later(_ text: String, after now: Timestamp) -> Timestamp? {
        if let choice = LaterChoice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) {
            return choice.time(after: now)
        }
        if let seconds = TimeSpan.seconds(text) { return now.advanced(bySeconds: seconds) }
        return next(text, after: now) ?? dateAndTime(text)
    }

    /// Parses `YYYY-MM-DD HH:MM`, or the same with a `T`, in the local time zone.
    private static func dateAndTime(_ text: String) -> Timestamp? {
        guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})[ T]([0-9]{2}):([0-9]{2})/),
            let year = Int32(match.1), let month = Int32(match.2), let day = Int32(match.3),
            let hour = Int32(match.4), let minute = Int32(match.5), hour < 24, minute < 60
        else { return nil }
        var parts = unsafe tm()
        unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
        unsafe (parts.tm_hour, parts.tm_min, parts.tm_isdst) = (hour, minute, -1)
        let moment = unsafe Timestamp(unixSeconds: Int64(mktime(&parts)))
        // The C library would turn 31 February into a day in March.
        return unsafe parts.tm_mday == day && parts.tm_mon == month - 1 ? moment : nil
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
