// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushAPI
internal import PushCore

/// Texts about times to which the user puts something off.
extension LaterChoice {
    /// Returns all choices, the earliest time first.
    static func inOrder(after now: Timestamp) -> [LaterChoice] {
        allCases.sorted { $0.time(after: now) < $1.time(after: now) }
    }

    /// The title in a list, and the label of a button.
    var title: String { title(now: PanelTime.now) }

    /// Returns the title, which says so if the time is tomorrow.
    func title(now: Timestamp) -> String {
        let isTomorrow = PanelTime.dayCount(from: now, to: time(after: now)) == 1
        return switch self {
        case .oneHour: tr("In One Hour")
        case .thisEvening: isTomorrow ? tr("Tomorrow at 18:00") : tr("At 18:00")
        case .tomorrowMorning: isTomorrow ? tr("Tomorrow at 07:00") : tr("At 07:00")
        }
    }
}

/// Texts about the reminder of a notification.
enum LaterText {
    /// Returns when a reminder is due, for example `Reminder today at 18:00`; empty without a reminder.
    static func reminder(_ time: Timestamp?, now: Timestamp) -> String {
        guard let time else { return "" }
        return switch PanelTime.dayCount(from: now, to: time) {
        case 0?: Texts.fill(tr("Reminder today at %1"), PanelTime.clock(time))
        case 1?: Texts.fill(tr("Reminder tomorrow at %1"), PanelTime.clock(time))
        default: Texts.fill(tr("Reminder on %1"), PanelTime.long(time))
        }
    }
}

/// Texts about the mute of an app.
enum MuteText {
    /// Returns the choices for the end of a mute, the earliest time first.
    static func choices(now: Timestamp) -> [LaterChoice] {
        LaterChoice.inOrder(after: now).filter { $0 != .thisEvening }
    }

    /// Returns the label of a choice.
    static func title(_ choice: LaterChoice) -> String {
        switch choice {
        case .oneHour: tr("Mute for One Hour")
        case .thisEvening: tr("Mute Until 18:00")
        case .tomorrowMorning: tr("Mute Until 07:00")
        }
    }

    /// Returns the value of the setting `muted` for a choice.
    static func value(_ choice: LaterChoice, now: Timestamp) -> String {
        DoNotDisturb.until(choice.time(after: now)).text
    }

    /// Returns when a mute ends, for a settings row; `Off` if the app is not muted.
    static func state(_ value: String, now: Timestamp) -> String {
        QuietText.end(value, now: now).map { Texts.fill(tr("Until %1"), $0) } ?? tr("Off")
    }

    /// Returns the end of an app's mute, for example `Muted until 07:00`; nil if the app is not muted.
    static func state(_ app: AppRecord, now: Timestamp) -> String? {
        guard let end = app.mutedUntil, end > now else { return nil }
        // The next time of this hour needs no date.
        let isSoon = end <= now.advanced(bySeconds: 86_400)
        return Texts.fill(tr("Muted until %1"), isSoon ? PanelTime.clock(end) : PanelTime.long(end))
    }
}
