// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// Texts about times to which the user puts something off.
extension LaterChoice {
    /// The title in a list, and the label of a button.
    var title: String {
        switch self {
        case .oneHour: tr("In One Hour")
        case .thisEvening: tr("At 18:00")
        case .tomorrowMorning: tr("At 07:00")
        }
    }
}

/// Texts about the mute of an app.
enum MuteText {
    /// The choices for the end of a mute.
    static let choices: [LaterChoice] = [.oneHour, .tomorrowMorning]

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

    /// Returns whether an app is muted.
    static func isMuted(_ value: String, now: Timestamp) -> Bool { QuietText.end(value, now: now) != nil }
}
