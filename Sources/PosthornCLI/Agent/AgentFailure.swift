// SPDX-License-Identifier: Apache-2.0

/// The errors that the agent returns; deploy/dbus/org.posthorn.Agent1.xml defines them.
package enum AgentFailure: String, CaseIterable, Sendable {
    case alreadyEnrolled = "org.posthorn.Error.AlreadyEnrolled"
    case badEnrolmentCode = "org.posthorn.Error.BadEnrolmentCode"
    case badServer = "org.posthorn.Error.BadServer"
    case unreachable = "org.posthorn.Error.Unreachable"
    case notTrusted = "org.posthorn.Error.NotTrusted"
    case badFile = "org.posthorn.Error.BadFile"
    case deviceRemoved = "org.posthorn.Error.DeviceRemoved"
    case notEnrolled = "org.posthorn.Error.NotEnrolled"
    case unknownTopic = "org.posthorn.Error.UnknownTopic"
    case badEnvironment = "org.posthorn.Error.BadEnvironment"
    case badChannelID = "org.posthorn.Error.BadChannelID"
    case unknownChannel = "org.posthorn.Error.UnknownChannel"
    case tooMany = "org.posthorn.Error.TooMany"
    case badAppID = "org.posthorn.Error.BadAppID"
    case unknownApp = "org.posthorn.Error.UnknownApp"
    case unknownSetting = "org.posthorn.Error.UnknownSetting"
    case unknownEvent = "org.posthorn.Error.UnknownEvent"
    case badValue = "org.posthorn.Error.BadValue"
    case locked = "org.posthorn.Error.Locked"
    case badManifest = "org.posthorn.Error.BadManifest"
    case badSound = "org.posthorn.Error.BadSound"
    case unknownSound = "org.posthorn.Error.UnknownSound"
    case unknownEntry = "org.posthorn.Error.UnknownEntry"
    case appNotInstalled = "org.posthorn.Error.AppNotInstalled"
    case appDamaged = "org.posthorn.Error.AppDamaged"
    case needsTerminal = "org.posthorn.Error.NeedsTerminal"
    case notOpened = "org.posthorn.Error.NotOpened"
    case notYours = "org.posthorn.Error.NotYours"
    case limitsExceeded = "org.posthorn.Error.LimitsExceeded"
    case accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    /// Any other D-Bus error.
    case other = ""

    /// Creates the failure for a D-Bus error name; an unlisted name gives `other`.
    package init(busName: String) {
        self = Self.allCases.first { $0.rawValue.utf8.elementsEqual(busName.utf8) } ?? .other
    }

    /// The remedy, in one sentence.
    package var remedy: String {
        switch self {
        case .alreadyEnrolled: "Leave the current server first: posthorn agent unenrol"
        case .badEnrolmentCode:
            "Check that the code is complete, or create a new one on the server with 'posthorn enrol'."
        case .badServer: "Specify the server as https://HOST[:PORT], without a path."
        case .unreachable: "Check that the server is running and that this machine can reach it, then try again."
        case .notTrusted: "If the server has a new CA: run 'posthorn agent unenrol --local', then enrol again."
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
        case .notOpened: "Start the app manually to see its error message."
        case .notYours:
            "Run the posthorn that was installed together with posthorn-agent, as the user who owns the agent."
        case .limitsExceeded: "Try again in a few seconds."
        case .accessDenied: "Run this command as the user who owns the agent."
        case .other: "See the agent's log: journalctl --user -u posthorn-agent"
        }
    }

    package var exitCode: ExitCode {
        switch self {
        case .unreachable, .notTrusted: .unreachable
        case .unknownTopic, .unknownApp, .unknownEntry, .unknownChannel, .unknownEvent, .unknownSound: .notFound
        case .accessDenied, .locked, .notYours: .notPermitted
        case .alreadyEnrolled, .badEnrolmentCode, .badServer, .deviceRemoved, .notEnrolled, .badEnvironment,
            .badChannelID, .tooMany,
            .badAppID, .unknownSetting, .badValue, .badManifest, .badSound, .badFile, .appNotInstalled, .appDamaged,
            .needsTerminal, .notOpened, .limitsExceeded, .other:
            .refused
        }
    }
}
