// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushAPI
internal import PushCore

/// Formats times for the panel, in the local time zone.
enum PanelTime {
    /// The components of a local time.
    private struct Parts {
        var year: Int
        var month: Int
        var day: Int
        var hour: Int
        var minute: Int
        /// The weekday; 0 is Monday.
        var weekday: Int
        /// The number of the day, for differences between two days.
        var dayNumber: Int64

        init?(_ time: Timestamp) {
            // A number out of range became one of these times.
            guard time > .distantPast, time < .distantFuture else { return nil }
            var seconds = time_t(time.unixSeconds)
            var parts = unsafe tm()
            guard unsafe localtime_r(&seconds, &parts) != nil else { return nil }
            (year, month, day) = unsafe (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
            (hour, minute) = unsafe (Int(parts.tm_hour), Int(parts.tm_min))
            weekday = unsafe (Int(parts.tm_wday) + 6) % 7
            dayNumber = unsafe (time.unixSeconds + Int64(parts.tm_gmtoff)) / 86_400
        }

        /// The date with hyphens at which no line breaks.
        var date: String {
            let parts = ["\(year)", PanelTime.twoDigits(month), PanelTime.twoDigits(day)]
            return parts.joined(separator: "\u{2011}")
        }
        var clock: String { PanelTime.clock(minute: hour * 60 + minute) }
    }

    /// Formats a time for a row: today's time, `Yesterday`, the weekday within a week, or the date.
    ///
    /// - Parameters:
    ///   - time: The time to format.
    ///   - now: The current time.
    /// - Returns: A short text; empty for a time outside the calendar's range.
    static func short(_ time: Timestamp, now: Timestamp) -> String {
        guard let then = Parts(time), let today = Parts(now) else { return "" }
        switch today.dayNumber - then.dayNumber {
        case 0: return then.clock
        case 1: return tr("Yesterday")
        case 2...6: return weekdays[then.weekday]
        default: return then.date
        }
    }

    /// Formats the arrival of an alert: as `short` does, with the time of day, for example `Yesterday 23:10`.
    static func arrival(_ time: Timestamp, now: Timestamp) -> String {
        guard let then = Parts(time) else { return "" }
        let day = short(time, now: now)
        return day.isEmpty || day == then.clock ? day : "\(day) \(then.clock)"
    }

    /// Formats date and time, for example `2026-11-21 20:15`.
    static func long(_ time: Timestamp) -> String {
        Parts(time).map { "\($0.date) \($0.clock)" } ?? ""
    }

    /// Formats only the time if it is today, else date and time.
    static func moment(_ time: Timestamp, now: Timestamp) -> String {
        guard let then = Parts(time), let today = Parts(now) else { return "" }
        return then.dayNumber == today.dayNumber ? then.clock : "\(then.date) \(then.clock)"
    }

    /// Returns the number of midnights between two times, 1 for tomorrow; nil for a time outside the calendar's range.
    static func dayCount(from now: Timestamp, to time: Timestamp) -> Int64? {
        guard let then = Parts(time), let today = Parts(now) else { return nil }
        return then.dayNumber - today.dayNumber
    }

    /// Formats only the time of day, for example `18:00`.
    static func clock(_ time: Timestamp) -> String { Parts(time)?.clock ?? "" }

    /// Returns the local weekday and minute; nil for a time outside the calendar's range.
    static func local(_ time: Timestamp) -> QuietSchedule.LocalTime? {
        Parts(time).map { QuietSchedule.LocalTime(weekday: $0.weekday, minute: $0.hour * 60 + $0.minute) }
    }

    /// Formats a minute of the day, for example `22:00`.
    static func clock(minute: Int) -> String { "\(twoDigits(minute / 60)):\(twoDigits(minute % 60))" }

    /// The days of the week, Monday first.
    static var weekdays: [String] {
        [tr("Monday"), tr("Tuesday"), tr("Wednesday"), tr("Thursday"), tr("Friday"), tr("Saturday"), tr("Sunday")]
    }

    /// The abbreviated days of the week, Monday first.
    static var shortWeekdays: [String] {
        [tr("Mon"), tr("Tue"), tr("Wed"), tr("Thu"), tr("Fri"), tr("Sat"), tr("Sun")]
    }

    /// The current time, in whole seconds.
    static var now: Timestamp { .now.roundedDownToSeconds }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
