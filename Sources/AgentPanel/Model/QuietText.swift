// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Do Not Disturb in words.
package enum QuietText {
    /// How it stands, for the row that leads to it: `Off`, `On`, `Until 22:00`, `Scheduled`.
    ///
    /// - Parameters:
    ///   - value: The setting `do-not-disturb`.
    ///   - schedule: The setting `schedule`.
    ///   - now: UNIX seconds.
    /// - Returns: A word or two.
    package static func state(_ value: String, schedule: String, now: Int64) -> String {
        if isOn(value, now: now) { return end(value, now: now).map { Texts.fill(tr("Until %1"), $0) } ?? tr("On") }
        if let end = scheduledEnd(of: schedule, now: now) { return Texts.fill(tr("Until %1"), end) }
        return QuietTimes.all(of: schedule).isEmpty ? tr("Off") : tr("Scheduled")
    }

    /// Whether it holds now, by itself or by the schedule.
    package static func isInForce(_ value: String, schedule: String, now: Int64) -> Bool {
        guard !isOn(value, now: now) else { return true }
        guard let schedule = QuietSchedule(schedule), let time = PanelTime.local(now) else { return false }
        return schedule.contains(time)
    }

    /// When the times that hold now end; nil when none hold, or some always do.
    private static func scheduledEnd(of schedule: String, now: Int64) -> String? {
        guard let schedule = QuietSchedule(schedule), let start = PanelTime.local(now), schedule.contains(start) else {
            return nil
        }
        let minutesOfWeek = 7 * 1440
        let first = start.weekday * 1440 + start.minute
        let end = (1..<minutesOfWeek).map { (first + $0) % minutesOfWeek }.first {
            !schedule.contains(QuietSchedule.LocalTime(weekday: $0 / 1440, minute: $0 % 1440))
        }
        return end.map { PanelTime.clock(minute: $0 % 1440) }
    }

    /// Whether it holds now, by itself and not by the schedule.
    package static func isOn(_ value: String, now: Int64) -> Bool { DoNotDisturb(value)?.holds(at: now) ?? false }

    /// When it ends; nil when it does not by itself.
    package static func end(_ value: String, now: Int64) -> String? {
        guard case .until(let end) = DoNotDisturb(value), end > now else { return nil }
        return PanelTime.moment(end, now: now)
    }

    /// For how long it can be switched on.
    package enum Choice: CaseIterable, Sendable {
        case untilSwitchedOff, oneHour, thisEvening, tomorrowMorning

        /// What is in the list.
        package var title: String {
            switch self {
            case .untilSwitchedOff: tr("Until Switched Off")
            case .oneHour: tr("For One Hour")
            case .thisEvening: tr("Until 18:00")
            case .tomorrowMorning: tr("Until 07:00")
            }
        }

        /// The setting's value.
        package func value(now: Int64) -> String {
            switch self {
            case .untilSwitchedOff: DoNotDisturb.on.text
            case .oneHour: DoNotDisturb.until(now + 3600).text
            case .thisEvening: DoNotDisturb.until(PanelTime.next(minute: 18 * 60, after: now)).text
            case .tomorrowMorning: DoNotDisturb.until(PanelTime.next(minute: 7 * 60, after: now)).text
            }
        }

        /// Which one a value came from; nil for a moment to come that none of them gives.
        package static func of(_ value: String, now: Int64) -> Choice? {
            guard case .until(let end) = DoNotDisturb(value), end > now else { return .untilSwitchedOff }
            return [.thisEvening, .tomorrowMorning].first { DoNotDisturb($0.value(now: now)) == .until(end) }
        }
    }

    /// What is in the list for a moment that no choice gives, as `Until 04:39`; nil where one of them holds.
    package static func otherEnd(_ value: String, now: Int64) -> String? {
        guard Choice.of(value, now: now) == nil else { return nil }
        return end(value, now: now).map { Texts.fill(tr("Until %1"), $0) }
    }
}

/// Times of the week at which the person is not to be disturbed: one line of the schedule.
package struct QuietTimes: Equatable, Sendable {
    /// Bit 0 is Monday.
    package var days: UInt8
    /// Minutes after midnight.
    package var start: Int
    /// Minutes after midnight; not the same as `start`, and before it when they end on the next day.
    package var end: Int

    /// At night, of no day yet: it holds from the first day on that is chosen.
    package static let undecided = QuietTimes(days: 0, start: 22 * 60, end: 7 * 60)
    private static let everyDay: UInt8 = 0x7F
    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Joins the parts.
    package init(days: UInt8, start: Int, end: Int) {
        self.days = days
        self.start = start
        self.end = end
    }

    /// The lines of a schedule as the setting has it.
    package static func all(of schedule: String) -> [QuietTimes] {
        (QuietSchedule(schedule)?.spans ?? []).map { QuietTimes(days: $0.days, start: $0.start, end: $0.end % 1440) }
    }

    /// A schedule as the setting has it; lines that never hold are left out.
    package static func setting(_ lines: [QuietTimes]) -> String {
        let texts = lines.filter { $0.days != 0 && $0.start != $0.end }.map(\.setting)
        return texts.isEmpty ? "none" : texts.joined(separator: ", ")
    }

    private var setting: String {
        let days = Self.names.indices.filter { contains(day: $0) }.map { Self.names[$0] }.joined(separator: " ")
        return "\(days) \(PanelTime.clock(minute: start))-\(PanelTime.clock(minute: end))"
    }

    /// Whether they begin on a day; 0 is Monday.
    package func contains(day: Int) -> Bool { days & 1 << UInt8(day) != 0 }

    /// Adds a day or takes it out.
    package mutating func toggle(day: Int) { days ^= 1 << UInt8(day) }

    /// Whether they begin on each day.
    package var isEveryDay: Bool { days == Self.everyDay }

    /// Adds all days, or takes them out where all are in.
    package mutating func toggleEveryDay() { days = isEveryDay ? 0 : Self.everyDay }

    /// From when to when, for example `22:00–07:00`.
    package var timesText: String { "\(PanelTime.clock(minute: start))–\(PanelTime.clock(minute: end))" }

    /// On which days.
    package var daysText: String {
        switch days {
        case Self.everyDay: return tr("Every day")
        case 0x1F: return tr("Monday to Friday")
        case 0x60: return tr("Saturday and Sunday")
        default:
            let names = PanelTime.shortWeekdays
            return names.indices.filter { contains(day: $0) }.map { names[$0] }.joined(separator: ", ")
        }
    }
}
