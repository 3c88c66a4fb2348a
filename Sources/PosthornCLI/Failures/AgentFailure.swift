// SPDX-License-Identifier: Apache-2.0

package import AgentBus

/// The reason why a call of the agent failed.
enum AgentFailure: Equatable, Sendable {
    /// An error of the agent itself.
    case agent(AgentErrorCode)
    /// The message bus does not allow the call.
    case accessDenied
    /// Any other D-Bus error.
    case other

    /// Creates the failure for a D-Bus error name; an unlisted name gives `other`.
    init(busName: String) {
        if let code = AgentErrorCode(busName: busName) {
            self = .agent(code)
        } else {
            self = busName.utf8.elementsEqual("org.freedesktop.DBus.Error.AccessDenied".utf8) ? .accessDenied : .other
        }
    }

    /// The remedy, in one sentence.
    var remedy: String {
        switch self {
        case .agent(let code): code.remedy
        case .accessDenied: "Run this command as the user who owns the agent."
        case .other: "See the agent's log: journalctl --user -u posthorn-agent"
        }
    }

    var exitCode: ExitCode {
        switch self {
        case .agent(let code): code.exitCode
        case .accessDenied: .notPermitted
        case .other: .refused
        }
    }
}

extension AgentErrorCode {
    /// The remedy, in one sentence.
    package var remedy: String {
        switch self {
        case .alreadyEnrolled: "Leave the current server first: posthorn agent unenrol"
        case .badEnrolmentCode:
            "Check that the code is complete, or create a new one on the server with 'posthorn enrol'."
        case .badServer: "Specify the server as https://HOST[:PORT], without a path."
        case .unreachable: "Check that the server is running and that this machine can reach it, then try again."
        case .notTrusted:
            "If the server has a new CA, run 'posthorn agent trust CODE' with the code that 'posthorn authority list' "
                + "prints on the server."
        case .badFile: "Correct the file, then restart the agent: systemctl --user restart posthorn-agent"
        case .notEnrolled: "Enrol this device first: posthorn agent enrol SERVER CODE"
        case .deviceRemoved:
            "Run 'posthorn agent unenrol', then enrol again: posthorn agent enrol SERVER CODE"
        case .unknownTopic:
            "Add the app on the server with 'posthorn app add TOPIC', or specify another topic with --topic."
        case .badEnvironment: "Choose production or development."
        case .badChannelID:
            "Copy the complete ID that the app's back-end received, for example AAECAwQFBgcICQoLDA0ODw==."
        case .unknownChannel:
            "See 'posthorn settings show APP' for its subscriptions. A channel belongs to one app and one environment."
        case .tooMany: "Unsubscribe from channels that are no longer needed: posthorn unsubscribe APP CHANNEL"
        case .badAppID: "Use the name of the app's desktop file without '.desktop', for example org.example.Mail."
        case .unknownApp: "See 'posthorn settings list' for the registered apps."
        case .unknownSetting: "See 'posthorn settings show APP' and 'posthorn settings list' for the settings."
        case .unknownEvent: "See 'posthorn settings show APP' for the event types that the app declared."
        case .badValue: "Specify another value, or 'default' to reset it."
        case .locked: "Ask the administrator of this device's server."
        case .badSound: "Use an Ogg Vorbis or WAV file of at most 30 seconds that is neither silent nor clipped."
        case .unknownSound: "See 'posthorn sound list APP' for the available sounds."
        case .badManifest: "Correct the manifest, or register without one: posthorn register APP"
        case .unknownEntry: "See 'posthorn inbox list' for the entries."
        case .appNotInstalled: "Install the app, or unregister it: posthorn unregister APP"
        case .appDamaged: "Correct the app's .desktop file, or reinstall the app."
        case .needsTerminal: "Install xdg-terminal-exec, or start the app in a terminal."
        case .linkNotOpened: "Set a default web browser, or open the address in 'posthorn inbox show ENTRY' yourself."
        case .notOpened: "Start the app manually to see its error message."
        case .notYours:
            "Run the posthorn that was installed together with posthorn-agent, as the user who owns the agent."
        case .limitsExceeded: "Try again in a few seconds."
        case .storageFailed: "Free some space on the disk of the agent's state directory, then try again."
        case .refused, .badTopic, .invalidArguments, .failed: AgentFailure.other.remedy
        }
    }

    var exitCode: ExitCode {
        switch self {
        case .unreachable, .notTrusted: .unreachable
        case .unknownTopic, .unknownApp, .unknownEntry, .unknownChannel, .unknownEvent, .unknownSound: .notFound
        case .locked, .notYours: .notPermitted
        case .alreadyEnrolled, .badEnrolmentCode, .badServer, .deviceRemoved, .notEnrolled, .badEnvironment,
            .badChannelID, .tooMany,
            .badAppID, .unknownSetting, .badValue, .badManifest, .badSound, .badFile, .appNotInstalled, .appDamaged,
            .needsTerminal, .linkNotOpened, .notOpened, .limitsExceeded, .refused, .badTopic, .invalidArguments,
            .storageFailed,
            .failed:
            .refused
        }
    }
}
