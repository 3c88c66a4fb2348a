// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// Texts about Do Not Disturb.
enum QuietText {
    /// Returns the current state for a settings row: `Off`, `On`, `Until 22:00` or `Scheduled`.
    ///
    /// - Parameters:
    ///   - value: The setting `do-not-disturb`.
    ///   - schedule: The setting `schedule`.
    ///   - now: The current time.
    /// - Returns: A word or two.
    static func state(_ value: String, schedule: String, now: Timestamp) -> String {
        if isOn(value, now: now) { return end(value, now: now).map { Texts.fill(tr("Until %1"), $0) } ?? tr("On") }
        if let end = scheduledEnd(of: schedule, now: now) { return Texts.fill(tr("Until %1"), end) }
        return QuietTimes.all(of: schedule).isEmpty ? tr("Off") : tr("Scheduled")
    }

    /// Returns whether Do Not Disturb is active, either switched on or by the schedule.
    static func isInForce(_ value: String, schedule: String, now: Timestamp) -> Bool {
        guard !isOn(value, now: now) else { return true }
        guard let schedule = QuietSchedule(schedule), let time = PanelTime.local(now) else { return false }
        return schedule.contains(time)
    }

    /// Returns when the active schedule ends; nil if it is inactive or never ends.
    private static func scheduledEnd(of schedule: String, now: Timestamp) -> String? {
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

    /// Returns whether Do Not Disturb is switched on, without regard to the schedule.
    static func isOn(_ value: String, now: Timestamp) -> Bool { DoNotDisturb(value)?.holds(at: now) ?? false }

    /// Returns when Do Not Disturb ends; nil if it has no end.
    static func end(_ value: String, now: Timestamp) -> String? {
        guard case .until(let end) = DoNotDisturb(value), end > now else { return nil }
        return PanelTime.moment(end, now: now)
    }

    /// An end that the user can choose.
    enum Choice: CaseIterable, Equatable, Sendable {
        case whenTurnedOff
        case later(LaterChoice)

        static var allCases: [Choice] { inOrder(after: PanelTime.now) }

        /// Returns all choices, the earliest end first after the one without an end.
        static func inOrder(after now: Timestamp) -> [Choice] {
            [.whenTurnedOff] + LaterChoice.inOrder(after: now).map(Choice.later)
        }

        /// The title in the list.
        var title: String {
            switch self {
            case .whenTurnedOff: tr("When Turned Off")
            case .later(let choice): choice.title
            }
        }

        /// Returns the value of the setting `do-not-disturb`.
        func value(now: Timestamp) -> String {
            switch self {
            case .whenTurnedOff: DoNotDisturb.on.text
            case .later(let choice): DoNotDisturb.until(choice.time(after: now)).text
            }
        }

        /// Returns the choice that matches a value; nil for a future end that no choice has.
        static func of(_ value: String, now: Timestamp) -> Choice? {
            guard case .until(let end) = DoNotDisturb(value), end > now else { return .whenTurnedOff }
            return [.later(.thisEvening), .later(.tomorrowMorning)].first {
                DoNotDisturb($0.value(now: now)) == .until(end)
            }
        }
    }

    /// Returns a list title such as `At 04:39` for an end that no choice has; nil if a choice matches.
    static func otherEnd(_ value: String, now: Timestamp) -> String? {
        guard Choice.of(value, now: now) == nil else { return nil }
        return end(value, now: now).map { Texts.fill(tr("At %1"), $0) }
    }
}

/// One line of the schedule: days of the week and the time during which Do Not Disturb is active.
struct QuietTimes: Equatable, Sendable {
    /// The days as a bit mask; bit 0 is Monday.
    var days: UInt8
    /// The start in minutes after midnight.
    var start: Int
    /// The end in minutes after midnight; before `start` if it is on the next day, never equal to it.
    var end: Int

    /// The initial value of a new line: every night.
    static let everyNight = QuietTimes(days: everyDay, start: 22 * 60, end: 7 * 60)
    private static let everyDay: UInt8 = 0x7F
    private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    /// Parses the lines of the setting `schedule`.
    static func all(of schedule: String) -> [QuietTimes] {
        (QuietSchedule(schedule)?.spans ?? []).map { QuietTimes(days: $0.days, start: $0.start, end: $0.end % 1440) }
    }

    /// Formats the setting `schedule`; omits lines that are never active.
    static func setting(_ lines: [QuietTimes]) -> String {
        let texts = lines.filter(\.isEffective).map(\.setting)
        return texts.isEmpty ? "none" : texts.joined(separator: ", ")
    }

    private var setting: String {
        let days = Self.names.indices.filter { contains(day: $0) }.map { Self.names[$0] }.joined(separator: " ")
        return "\(days) \(PanelTime.clock(minute: start))-\(PanelTime.clock(minute: end))"
    }

    /// Returns whether the times start on a day; 0 is Monday.
    func contains(day: Int) -> Bool { days & 1 << UInt8(day) != 0 }

    /// Adds or removes a day.
    mutating func toggle(day: Int) { days ^= 1 << UInt8(day) }

    /// Whether the times can ever be active.
    var isEffective: Bool { days != 0 && start != end }

    /// The start and end, for example `22:00–07:00`.
    var timesText: String { "\(PanelTime.clock(minute: start))–\(PanelTime.clock(minute: end))" }

    /// The days, as a text for the user.
    var daysText: String {
        switch days {
        case Self.everyDay: return tr("Every day")
        case 0x1F: return tr("Monday to Friday")
        case 0x60: return tr("Saturday and Sunday")
        default:
            let names = PanelTime.shortWeekdays
            return names.indices.filter { contains(day: $0) }.map { names[$0] }.joined(separator: tr(", "))
        }
    }
}
