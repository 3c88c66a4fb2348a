// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Error messages for the user: the problem and its remedy.
package enum ProblemText {
    /// Returns the message for a D-Bus error name; the agent's own error text is meant for its log.
    package static func text(_ name: String) -> String {
        switch name.split(separator: ".").last.map(String.init) ?? "" {
        case "Locked": tr("Your administrator set this. Ask them to change it.")
        case "Unreachable": tr("The server cannot be reached. Check the address and the network, then try again.")
        case "BadEnrolmentCode": tr("The code is wrong or was already used. Check it, or ask for a new one.")
        case "BadServer": tr("This is not the address of a server. Enter it as https://host:port.")
        case "NotTrusted": tr("The identity of the server cannot be verified. Check the address and the code.")
        case "AlreadyEnrolled": tr("This computer already has a server. Leave that server first.")
        case "NotEnrolled": tr("This computer has no server. Pair it in Settings.")
        case "UnknownApp": tr("The app no longer exists. It was removed in the meantime.")
        case "UnknownEntry": tr("The notification no longer exists. It was cleared in the meantime.")
        case "LimitsExceeded": tr("There were too many requests at once. Try again in a moment.")
        case "DeviceRemoved": tr("The server no longer knows this computer. Leave the server, then pair again.")
        case "BadFile": tr("A file that is configured for the server cannot be used. Ask your administrator.")
        case "Refused": tr("The server refused the request. Ask its administrator.")
        case "AppNotInstalled": ReasonText.sentence(.notInstalled)
        case "AppDamaged": ReasonText.sentence(.damaged)
        case "NeedsTerminal": ReasonText.sentence(.needsTerminal)
        case "NotOpened": ReasonText.sentence(.notStarted)
        case _ where name.hasPrefix("org.posthorn.Error."): tr("That did not work. Try again in a moment.")
        default: tr("The notification service does not answer. Try again in a moment.")
        }
    }
}
