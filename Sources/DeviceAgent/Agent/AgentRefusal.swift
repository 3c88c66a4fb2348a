// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Why the agent did not do what an app or a person asked.
package struct AgentRefusal: Error, Sendable, Equatable {
    /// The last part of the D-Bus error name, `org.posthorn.Error.…`.
    package enum Code: String, Sendable, CaseIterable {
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
        case notOpened = "NotOpened"
        case invalidArguments = "InvalidArguments"
        case notYours = "NotYours"
        case limitsExceeded = "LimitsExceeded"
        case failed = "Failed"
    }

    /// Which.
    package var code: Code
    /// One sentence for a person: what is wrong.
    ///
    /// What to do about it goes with the code, in each client's own words.
    package var message: String
    /// For how long the server wants to be left alone.
    package var retryAfter: Duration?

    /// Joins the two.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The app is not registered.
    static func unknownApp(_ appID: String) -> AgentRefusal {
        AgentRefusal(.unknownApp, "No app '\(appID)' is registered here.")
    }

    /// A sound that cannot be taken, and what to do.
    static func badSound(_ reason: String) -> AgentRefusal {
        AgentRefusal(.badSound, "The sound cannot be installed: \(reason)")
    }

    /// There is no such entry.
    static func unknownEntry(_ number: Int64) -> AgentRefusal {
        AgentRefusal(.unknownEntry, "There is no entry \(number).")
    }

    /// An app did not open, and why, in the words of the inbox.
    static func notOpened(_ reason: String) -> AgentRefusal { AgentRefusal(.notOpened, reason) }

    /// The same for what the desktop said.
    static func notOpened(_ error: AppOpenError) -> AgentRefusal {
        let code: Code =
            switch error.failure {
            case .notInstalled: .appNotInstalled
            case .damaged: .appDamaged
            case .needsTerminal: .needsTerminal
            case .notStarted: .notOpened
            }
        return AgentRefusal(code, error.text)
    }

    /// There is no server.
    static let notEnrolled = AgentRefusal(.notEnrolled, "This device is enrolled at no server.")

    /// A code that lacks a part, or has a digit that no code has.
    static let garbledCode = AgentRefusal(
        .badEnrolmentCode, "The code is not whole: it has three groups of four, or nine.")

    /// Whoever answered is not the server that made the code, or something stands before it.
    static let otherAuthority = AgentRefusal(
        .notTrusted, "The server's certificate is not of the authority that the code names.")

    /// What the server said to an enrolment.
    init(enrolment error: ServerError, hadCode: Bool) {
        switch error {
        // Its own word: a proxy before it has the same statuses for something else.
        case .refused(_, "BadEnrolmentCode", _, _):
            self.init(.badEnrolmentCode, hadCode ? error.message : "This server wants an enrolment code.")
        case .refused(let status, _, _, _) where status < 500: self.init(.refused, error.message)
        case .refused, .unreachable, .notTrusted, .badFile, .unintelligible: self.init(error)
        }
        retryAfter = error.retryAfter
    }

    /// What the server said to a registration: the topic may be a default that nobody typed.
    init(_ error: ServerError, topic: String) {
        self.init(error)
        if code == .unknownTopic { message = "No app of the server has the topic \(topic)." }
    }

    /// What the server said to a request about a topic or about the device.
    package init(_ error: ServerError) {
        switch error {
        case .unreachable, .unintelligible: self.init(.unreachable, error.message)
        case .notTrusted: self.init(.notTrusted, error.message)
        case .badFile: self.init(.badFile, error.message)
        case .refused(401, _, _, _):
            self.init(.deviceRemoved, "The server does not know this device any more.")
        case .refused(404, "UnknownChannel", _, _): self.init(.unknownChannel, error.message)
        case .refused(429, "TooMany", _, _): self.init(.tooMany, error.message)
        case .refused(404, _, _, _): self.init(.unknownTopic, error.message)
        case .refused(let status, _, _, _) where status >= 500: self.init(.unreachable, error.message)
        case .refused: self.init(.refused, error.message)
        }
        retryAfter = error.retryAfter
    }
}
