// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore

/// Texts about why something was not shown or played.
enum ReasonText {
    /// Returns a sentence for the agent's reason; an unknown reason is returned unchanged.
    static func sentence(_ reason: String) -> String {
        switch TraceDetail(deviceReason: reason) {
        case .none, .recordedAgain: ""
        case .masterOff: tr("All notifications were turned off.")
        case .turnedOff: tr("It was turned off for the app.")
        case .eventOff: tr("It was turned off for this kind of notification.")
        case .doNotDisturb: tr("Do Not Disturb was on.")
        case .appMuted: tr("The app was muted.")
        case .silent: tr("Sounds were silenced.")
        case .muted: tr("The computer’s sound was off.")
        case .recording: tr("A call or a recording was in progress.")
        case .passive: tr("The sender requested no sound.")
        case .unknownApp: tr("Its app is not registered on this computer.")
        case .nothingToShow: tr("It contained nothing to show.")
        case .expiredOnDevice: tr("It arrived after it had expired.")
        case .duplicate: tr("An identical notification arrived just before it.")
        case .replacedOnDevice: tr("A newer notification replaced it.")
        case .tooMany: tr("Too many notifications arrived at once.")
        case .cleared: tr("It was cleared before it could be shown.")
        case .unreadable: tr("The computer could not read it.")
        case .unsubscribed: tr("The app is no longer subscribed to the channel.")
        case .filtered: tr("The app suppressed it.")
        case .badgeOnly: tr("It changed only the badge.")
        case .badBadge: tr("The badge number is invalid.")
        case .unavailable: tr("The computer could not play it.")
        case .topicBound, .deviceBound, .refusedByDevice, .damaged, .notConnected, .windowFull, .notWritten:
            reason
        case .otherReason: OpenFailure(reason: reason).map(sentence) ?? reason
        }
    }

    /// Returns why an app did not open, and the remedy.
    static func sentence(_ failure: OpenFailure) -> String {
        switch failure {
        case .notInstalled: tr("The app is not installed. Install it, then try again.")
        case .damaged: tr("The installation of the app is damaged. Install it again.")
        case .needsTerminal: tr("The app runs in a terminal, but no terminal can be opened. Install xdg-terminal-exec.")
        case .linkNotOpened: tr("The link could not be opened. Choose a web browser in the settings of the desktop.")
        case .notStarted: tr("The app could not be started. Start it from the menu of the desktop.")
        }
    }

    /// Returns the result of one part of a notification; the agent writes it as `badge` or `sound:silent`.
    static func effect(_ effect: String) -> String {
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
