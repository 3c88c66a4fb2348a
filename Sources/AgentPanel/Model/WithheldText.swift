// SPDX-License-Identifier: Apache-2.0

/// Why what comes is listed and not shown: the one line above the list.
package enum WithheldText: Equatable, Sendable {
    /// The master switch is off.
    case switchedOff
    /// Do Not Disturb is in force, and how it stands.
    case quiet(String)

    /// Says it, or nothing while what comes is shown.
    ///
    /// - Parameters:
    ///   - master: The setting `master`.
    ///   - quiet: The setting `do-not-disturb`.
    ///   - schedule: The setting `schedule`.
    ///   - now: UNIX seconds.
    package init?(master: String, quiet: String, schedule: String, now: Int64) {
        if master == "off" {
            self = .switchedOff
        } else if QuietText.isInForce(quiet, schedule: schedule, now: now) {
            self = .quiet(QuietText.state(quiet, schedule: schedule, now: now))
        } else {
            return nil
        }
    }

    /// What is in the line.
    package var text: String {
        switch self {
        case .switchedOff: tr("All notifications are switched off.")
        case .quiet(let state): Texts.fill(tr("Do Not Disturb: %1"), state)
        }
    }
}
