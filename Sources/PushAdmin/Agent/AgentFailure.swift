// SPDX-License-Identifier: Apache-2.0

/// Why the agent refused: the D-Bus errors that deploy/dbus/org.posthorn.Agent1.xml names.
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
    /// Anything else.
    case other = ""

    /// Recognises the name of a D-Bus error; one that is not listed is `other`.
    package init(busName: String) {
        self = Self.allCases.first { $0.rawValue.utf8.elementsEqual(busName.utf8) } ?? .other
    }

    /// What to do: one sentence.
    package var remedy: String {
        switch self {
        case .alreadyEnrolled: "To enrol anew, leave that server first: posthorn agent unenrol"
        case .badEnrolmentCode:
            "Check that all of the code is there, behind the server's URL, or make another on the server (posthorn enrol)."
        case .badServer: "Write the server as https://HOST[:PORT], without a path."
        case .unreachable: "Check that the server runs and that this machine reaches it, then try again."
        case .notTrusted: "If the server has another authority now: posthorn agent unenrol --local, then enrol again."
        case .badFile: "Put that file right, then restart the agent: systemctl --user restart posthorn-agent"
        case .notEnrolled: "Enrol this device first: posthorn agent enrol SERVER CODE"
        case .deviceRemoved:
            "Leave that server, then enrol anew: posthorn agent unenrol, then posthorn agent enrol SERVER CODE"
        case .unknownTopic: "Add the topic on the server (posthorn app add TOPIC), or name another with --topic."
        case .badEnvironment: "Use production or development."
        case .badChannelID: "Copy the whole id as the app's back-end got it, for example AAECAwQFBgcICQoLDA0ODw==."
        case .unknownChannel:
            "'posthorn settings show APP' shows what the app subscribed to; channels belong to one app and environment."
        case .tooMany: "Unsubscribe from channels that are not needed: posthorn unsubscribe APP CHANNEL"
        case .badAppID: "Use the name of the app's desktop file without '.desktop', for example org.example.Mail."
        case .unknownApp: "'posthorn settings list' shows the registered apps."
        case .unknownSetting: "'posthorn settings show APP' and 'posthorn settings list' show what there is to set."
        case .unknownEvent: "'posthorn settings show APP' shows the event types that the app declared."
        case .badValue: "Give another value, or 'standard' to give the choice up."
        case .locked: "Ask the administrator of this device's server."
        case .badSound: "Install one of at most 30 seconds, in Ogg Vorbis or WAV, that can be heard and is not clipped."
        case .unknownSound: "'posthorn sound list APP' shows the sounds that the app can name, or where to get some."
        case .badManifest: "Correct it, or leave it out: posthorn register APP works without a manifest."
        case .unknownEntry: "'posthorn inbox list' shows the entries."
        case .appNotInstalled: "Install the app, or give it up: posthorn unregister APP"
        case .appDamaged: "Correct the app's .desktop file, or install the app again."
        case .needsTerminal: "Install xdg-terminal-exec, or start the app in a terminal."
        case .notOpened: "Start the app yourself: it may say what is wrong."
        case .notYours: "Run the posthorn that was installed beside posthorn-agent, as the user whose agent it is."
        case .limitsExceeded: "Try again in a moment."
        case .accessDenied: "Run this as the user whose agent it is."
        case .other: "The agent's log says more: journalctl --user -u posthorn-agent"
        }
    }

    /// What the program ends with.
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
