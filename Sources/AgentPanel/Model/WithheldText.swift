// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The reason why new notifications are listed but not shown, for the line above the list.
enum WithheldText: Equatable, Sendable {
    case turnedOff
    /// Do Not Disturb is active; carries its state as a text.
    case quiet(String)

    /// Chooses the reason; nil while notifications are shown.
    ///
    /// - Parameters:
    ///   - master: The setting `master`.
    ///   - quiet: The setting `do-not-disturb`.
    ///   - schedule: The setting `schedule`.
    ///   - now: The current time.
    init?(master: String, quiet: String, schedule: String, now: Timestamp) {
        if master == "off" {
            self = .turnedOff
        } else if QuietText.isInForce(quiet, schedule: schedule, now: now) {
            self = .quiet(QuietText.state(quiet, schedule: schedule, now: now))
        } else {
            return nil
        }
    }

    /// The text of the line.
    var text: String {
        switch self {
        case .turnedOff: tr("All notifications are turned off.")
        case .quiet(let state): Texts.fill(tr("Do Not Disturb: %1"), state)
        }
    }
}
