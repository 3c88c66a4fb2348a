// SPDX-License-Identifier: Apache-2.0

/// The last part of an error name of the agent, `org.posthorn.Error.…`.
package enum AgentErrorCode: String, Sendable, CaseIterable {
    case alreadyEnrolled = "AlreadyEnrolled"
    case badEnrolmentCode = "BadEnrolmentCode"
    case badServer = "BadServer"
    case notEnrolled = "NotEnrolled"
    case deviceRemoved = "DeviceRemoved"
    case unreachable = "Unreachable"
    case notTrusted = "NotTrusted"
    case badFile = "BadFile"
    case refused = "Refused"
    case unknownTopic = "UnknownTopic"
    case badTopic = "BadTopic"
    case badEnvironment = "BadEnvironment"
    case badChannelID = "BadChannelID"
    case unknownChannel = "UnknownChannel"
    case tooMany = "TooMany"
    case badAppID = "BadAppID"
    case unknownApp = "UnknownApp"
    case unknownSetting = "UnknownSetting"
    case badManifest = "BadManifest"
    case badSound = "BadSound"
    case unknownSound = "UnknownSound"
    case unknownEvent = "UnknownEvent"
    case badValue = "BadValue"
    case locked = "Locked"
    case unknownEntry = "UnknownEntry"
    case appNotInstalled = "AppNotInstalled"
    case appDamaged = "AppDamaged"
    case needsTerminal = "NeedsTerminal"
    case linkNotOpened = "LinkNotOpened"
    case notOpened = "NotOpened"
    case invalidArguments = "InvalidArguments"
    case notYours = "NotYours"
    case limitsExceeded = "LimitsExceeded"
    case storageFailed = "StorageFailed"
    case failed = "Failed"

    private static let prefix = "org.posthorn.Error."

    /// Returns the code of an error name; nil for an error that the agent does not define.
    package init?(busName: String) {
        let code = Self.allCases.first { $0.busName.utf8.elementsEqual(busName.utf8) }
        guard let code else { return nil }
        self = code
    }

    /// The name of the D-Bus error.
    package var busName: String { Self.prefix + rawValue }
}
