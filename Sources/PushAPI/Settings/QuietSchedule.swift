// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The weekly times of Do Not Disturb, for example `mon-fri 22:00-07:00, sat sun 23:00-09:00`.
///
/// Times are local. A span that ends before it begins ends on the next day; it belongs to the day on which it begins. A
/// span without days applies to every day.
package struct QuietSchedule: Sendable, Equatable {
    /// A span of time on certain days of the week.
    package struct Span: Sendable, Equatable {
        /// A bit set of days; bit 0 is Monday.
        package var days: UInt8
        /// The start, in minutes after midnight, 0 to 1439.
        package var start: Int
        /// The end, in minutes after midnight, 1 to 1440.
        package var end: Int
    }

    /// A local time of the week.
    package struct LocalTime: Sendable, Equatable {
        /// The day of the week; 0 is Monday.
        package var weekday: Int
        /// The minutes after midnight.
        package var minute: Int

        package init(weekday: Int, minute: Int) {
            self.weekday = weekday
            self.minute = minute
        }
    }

    /// The maximum number of spans in a schedule.
    static let spanCountMax = 16
    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    private static let minutesOfDay = 1440
    private static let everyDay: UInt8 = 0x7F

    /// The spans; empty for no schedule.
    package private(set) var spans: [Span] = []

    /// Parses a schedule; `none` is an empty schedule.
    package init?(_ text: String) {
        guard !text.utf8.elementsEqual("none".utf8) else { return }
        let parts = text.lowercased().split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= Self.spanCountMax else { return nil }
        for part in parts {
            guard let span = Self.span(part) else { return nil }
            spans.append(span)
        }
    }

    /// The stored text form.
    package var text: String {
        spans.isEmpty ? "none" : spans.map(Self.text(of:)).joined(separator: ", ")
    }

    /// Returns whether the schedule is active at a local time.
    package func contains(_ time: LocalTime) -> Bool {
        let (today, yesterday) = (UInt8(1) << UInt8(time.weekday), UInt8(1) << UInt8((time.weekday + 6) % 7))
        return spans.contains { span in
            guard span.end <= span.start else {
                return span.days & today != 0 && span.start <= time.minute && time.minute < span.end
            }
            return (span.days & today != 0 && time.minute >= span.start)
                || (span.days & yesterday != 0 && time.minute < span.end)
        }
    }

    // MARK: Text

    /// Returns whether a span of an invalid schedule starts and ends at the same time.
    package static func hasEmptySpan(_ text: String) -> Bool {
        text.firstMatch(of: /([0-9]{2}:[0-9]{2})-([0-9]{2}:[0-9]{2})/).map { $0.1 == $0.2 } ?? false
    }

    private static func span(_ text: Substring) -> Span? {
        let words = text.split(separator: " ")
        guard let times = words.last, words.count <= 8 else { return nil }
        var days: UInt8 = 0
        for word in words.dropLast() {
            guard let more = Self.days(word) else { return nil }
            days |= more
        }
        let ends = times.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = minute(ends[0]), let end = minute(ends[1]), start < minutesOfDay,
            start != end
        else { return nil }
        return Span(days: words.count == 1 ? everyDay : days, start: start, end: end == 0 ? minutesOfDay : end)
    }

    /// Parses a day (`mon`) or a range of days (`fri-mon`).
    private static func days(_ word: Substring) -> UInt8? {
        let ends = word.split(separator: "-", omittingEmptySubsequences: false).map { end in
            names.firstIndex { $0.utf8.elementsEqual(end.utf8) }
        }
        guard ends.count <= 2, let first = ends.first ?? nil, let last = ends.last ?? nil else { return nil }
        return (0...(last - first + 7) % 7).reduce(0) { $0 | 1 << UInt8((first + $1) % 7) }
    }

    /// Parses `HH:MM`, up to 24:00.
    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy(Decimal.isDigit) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60
        else { return nil }
        let sum = hour * 60 + minute
        return sum <= minutesOfDay ? sum : nil
    }

    private static func text(of span: Span) -> String {
        let times = "\(clock(span.start))-\(clock(span.end))"
        guard span.days != everyDay else { return times }
        let days = names.indices.filter { span.days & 1 << UInt8($0) != 0 }.map { names[$0] }
        return "\(days.joined(separator: " ")) \(times)"
    }

    private static func clock(_ minute: Int) -> String {
        let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }
}
