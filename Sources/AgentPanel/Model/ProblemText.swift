// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Error messages for the user: the problem and its remedy.
package enum ProblemText {
    /// Returns the message for a D-Bus error name; the agent's own error text is meant for its log.
    package static func text(_ name: String) -> String {
        switch name.split(separator: ".").last.map(String.init) ?? "" {
        case "Locked": tr("Your administrator decided this. Ask them to change it.")
        case "Unreachable": tr("The server cannot be reached. Check the address and the network, then try again.")
        case "BadEnrolmentCode": tr("The code is not right, or was used before. Check it, or ask for another.")
        case "BadServer": tr("That is no server’s address. Write it as https://host:port.")
        case "NotTrusted": tr("The server cannot show that it is the right one. Check address and code.")
        case "AlreadyEnrolled": tr("This computer has a server already. Leave that one first.")
        case "NotEnrolled": tr("This computer has no server. Pair it in Settings.")
        case "UnknownApp": tr("The app is not here any more. It was removed meanwhile.")
        case "UnknownEntry": tr("The notification is not here any more. It was cleared meanwhile.")
        case "LimitsExceeded": tr("That was too much at once. Try again in a moment.")
        case "DeviceRemoved": tr("The server does not know this computer any more. Leave it, then pair again.")
        case "BadFile": tr("A file that was set up for the server cannot be used. Ask your administrator.")
        case "Refused": tr("The server refused that. Ask who runs it.")
        case "AppNotInstalled": ReasonText.sentence(.notInstalled)
        case "AppDamaged": ReasonText.sentence(.damaged)
        case "NeedsTerminal": ReasonText.sentence(.needsTerminal)
        case "NotOpened": ReasonText.sentence(.notStarted)
        case _ where name.hasPrefix("org.posthorn.Error."): tr("That did not work. Try again in a moment.")
        default: tr("The notification service does not answer. Try again in a moment.")
        }
    }
}
