// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// Texts about why something was not shown or played.
package enum ReasonText {
    /// Returns a sentence for the agent's reason; an unknown reason is returned unchanged.
    package static func sentence(_ reason: String) -> String {
        switch TraceDetail(deviceReason: reason) {
        case .none: ""
        case .masterOff: tr("All notifications were switched off.")
        case .switchedOff: tr("That was switched off for the app.")
        case .eventOff: tr("That was switched off for this kind of notification.")
        case .doNotDisturb: tr("Do Not Disturb was on.")
        case .silent: tr("Sounds were silenced.")
        case .muted: tr("The computer’s sound was off.")
        case .recording: tr("A call or a recording was going on.")
        case .passive: tr("Its sender wants it seen, not heard.")
        case .unknownApp: tr("Its app is not known here.")
        case .nothingToShow: tr("There was nothing in it to show.")
        case .expiredOnDevice: tr("It came too late to be of use.")
        case .duplicate: tr("The same had come just before.")
        case .replacedOnDevice: tr("A newer one took its place.")
        case .tooMany: tr("Too many came at once.")
        case .cleared: tr("It was cleared before it could be shown.")
        case .unreadable: tr("It cannot be read.")
        case .unsubscribed: tr("The app does not listen to its channel any more.")
        case .filtered: tr("The app kept it back.")
        case .badgeOnly: tr("It was only a number for the icon.")
        case .badBadge: tr("Its number for the icon is none.")
        case .unavailable: tr("The computer could not play it.")
        case .topicBound, .deviceBound, .refusedByDevice, .damaged, .notConnected, .windowFull, .notWritten:
            reason
        case .otherReason: OpenFailure(reason: reason).map(sentence) ?? reason
        }
    }

    /// Returns why an app did not open, and the remedy.
    package static func sentence(_ failure: OpenFailure) -> String {
        switch failure {
        case .notInstalled: tr("The app is not installed. Install it, then try again.")
        case .damaged: tr("The app is not installed as it should be. Install it again.")
        case .needsTerminal: tr("The app runs in a terminal, and none can be opened. Install xdg-terminal-exec.")
        case .notStarted: tr("The app could not be started. Start it from the menu of your desktop.")
        }
    }

    /// Returns the result of one part of a notification; the agent writes it as `badge` or `sound:silent`.
    package static func effect(_ effect: String) -> String {
        let parts = effect.split(separator: ":", maxSplits: 1).map(String.init)
        let name =
            switch parts.first ?? "" {
            case "badge": tr("Badge")
            case "sound": tr("Sound")
            case "alert": tr("Alert")
            default: parts.first ?? ""
            }
        guard parts.count > 1 else { return name }
        return "\(name): \(sentence(parts[1]))"
    }
}
