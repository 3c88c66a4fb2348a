// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushCore
internal import PushDBus

/// Error messages for the user: the problem and its remedy.
enum ProblemText {
    /// Returns the message for a D-Bus error; the agent's own error text is meant for its log.
    static func text(_ error: BusError) -> String {
        if let code = error.agentCode { return text(code) }
        return error.isOfAgent ? unlisted : tr("The notification service does not answer. Try again in a moment.")
    }

    /// Returns the message for an error of the pairing form.
    ///
    /// - Parameters:
    ///   - error: The error of the call.
    ///   - hasCode: Whether the user entered a code, which identifies the server and permits the pairing.
    /// - Returns: The message.
    static func pairing(_ error: BusError, hasCode: Bool) -> String {
        switch error.agentCode {
        case .notTrusted where hasCode:
            tr("The code does not match this server. Check the code, or ask the administrator for a new one.")
        case .notTrusted:
            tr("The identity of this server cannot be verified. Enter the code that the administrator gave you.")
        case .badEnrolmentCode where !hasCode:
            tr("This server requires a code. Ask the administrator for one.")
        default: text(error)
        }
    }

    /// Returns the message for an error of the form that trusts another CA, whose code never expires.
    static func trusting(_ error: BusError) -> String {
        switch error.agentCode {
        case .invalidArguments: tr("The code is incomplete. Enter all six groups of four characters.")
        case .notTrusted:
            tr("This is not the code of this server. Check it with the administrator before you trust the server.")
        default: text(error)
        }
    }

    private static func text(_ code: AgentErrorCode) -> String {
        switch code {
        case .locked: tr("Your administrator set this. Ask them to change it.")
        case .unreachable: tr("The server cannot be reached. Check the address and the network, then try again.")
        case .badEnrolmentCode:
            tr("The code is wrong, has expired or was already used. Check it, or ask the administrator for a new one.")
        case .badServer:
            tr("This is not the address of a server. Enter an address such as https://push.example.org:2197.")
        case .notTrusted: tr("The identity of the server cannot be verified. Check the address and the code.")
        case .alreadyEnrolled: tr("This computer is already paired with a server. Leave that server first.")
        case .notEnrolled: tr("This computer is not paired with a server. Pair it in Settings.")
        case .unknownApp: tr("The app was removed in the meantime. Choose another one.")
        case .unknownEntry: tr("The notification was cleared in the meantime. Choose another one.")
        case .limitsExceeded: tr("There were too many requests at once. Try again in a moment.")
        case .deviceRemoved: tr("The server no longer knows this computer. Leave the server, then pair again.")
        case .badFile: tr("A file that agent.ini names cannot be used. Ask your administrator to check it.")
        case .storageFailed: tr("The change cannot be saved. Free some disk space, then try again.")
        case .refused: tr("The server refused the request. Ask its administrator.")
        case .appNotInstalled: ReasonText.sentence(.notInstalled)
        case .appDamaged: ReasonText.sentence(.damaged)
        case .needsTerminal: ReasonText.sentence(.needsTerminal)
        case .linkNotOpened: ReasonText.sentence(.linkNotOpened)
        case .notOpened: ReasonText.sentence(.notStarted)
        // The panel's own calls do not cause these errors, or the user has no remedy.
        case .unknownTopic, .badTopic, .badEnvironment, .badChannelID, .unknownChannel, .tooMany, .badAppID,
            .unknownSetting, .badManifest, .badSound, .unknownSound, .unknownEvent, .badValue, .invalidArguments,
            .notYours, .failed:
            unlisted
        }
    }

    /// The message for an error without a message of its own.
    private static var unlisted: String { tr("An unexpected error occurred. Try again in a moment.") }
}
