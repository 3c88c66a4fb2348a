// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import LinuxDesktop
internal import PushCore

/// The reason why the agent refused a request of an app or of the user.
struct AgentRefusal: Error, Sendable, Equatable {
    var code: AgentErrorCode
    /// One sentence for the user that says what is wrong.
    ///
    /// The advice depends on the code; each client has its own words for it.
    var message: String
    /// The time after which the server accepts the next attempt; nil if it named none.
    var retryAfter: Duration?

    init(_ code: AgentErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    static func unknownApp(_ appID: AppID) -> AgentRefusal {
        AgentRefusal(.unknownApp, "App '\(appID)' is not registered.")
    }

    /// Creates a refusal for a sound that cannot be installed.
    init(_ error: SoundInstallError) { self.init(.badSound, error.message) }

    static func unknownEntry(_ number: EntryID) -> AgentRefusal {
        AgentRefusal(.unknownEntry, "Entry \(number) does not exist.")
    }

    /// Returns a refusal for an app that did not open, with the inbox's text.
    static func notOpened(_ reason: String) -> AgentRefusal { AgentRefusal(.notOpened, reason) }

    /// Returns a refusal for an app that did not open, with a code that matches the error.
    static func notOpened(_ error: AppOpenError) -> AgentRefusal {
        let code: AgentErrorCode =
            switch error.failure {
            case .notInstalled: .appNotInstalled
            case .damaged: .appDamaged
            case .needsTerminal: .needsTerminal
            case .notStarted: .notOpened
            case .linkNotOpened: .linkNotOpened
            }
        return AgentRefusal(code, error.text)
    }

    static let notEnrolled = AgentRefusal(.notEnrolled, "This device is not enrolled.")

    /// An enrolment code that lacks a part or contains an invalid digit.
    static let incompleteCode = AgentRefusal(
        .badEnrolmentCode,
        "The enrolment code is incomplete. A complete code has three or nine groups of four characters.")

    /// The server's certificate is not from the authority that the code names; there may be a proxy in between.
    static let otherAuthority = AgentRefusal(
        .notTrusted, "The server's certificate is not signed by the CA that the code identifies.")

    /// Converts the server's refusal of an enrolment.
    init(enrolment error: ServerFailure, hadCode: Bool) {
        switch error {
        // Only the server's own code counts: a proxy uses the same statuses for other failures.
        case .refused(_, "BadEnrolmentCode", _, _):
            self.init(.badEnrolmentCode, hadCode ? error.message : "This server requires an enrolment code.")
        case .refused(let status, _, _, _) where status < 500: self.init(.refused, error.message)
        case .refused, .unreachable, .notTrusted, .badFile, .unintelligible: self.init(error)
        }
        retryAfter = error.retryAfter
    }

    /// Converts the server's refusal of a registration; names the topic, which may be a default.
    init(_ error: ServerFailure, topic: TopicName) {
        self.init(error)
        if code == .unknownTopic { message = "The server has no app with topic '\(topic)'." }
    }

    /// Converts the server's refusal of a request about a topic or about the device.
    init(_ error: ServerFailure) {
        switch error {
        case .unreachable, .unintelligible: self.init(.unreachable, error.message)
        case .notTrusted: self.init(.notTrusted, error.message)
        case .badFile: self.init(.badFile, error.message)
        case .refused(401, _, _, _):
            self.init(.deviceRemoved, "This device was removed from the server.")
        case .refused(404, "UnknownChannel", _, _): self.init(.unknownChannel, error.message)
        case .refused(429, "TooMany", _, _): self.init(.tooMany, error.message)
        case .refused(404, _, _, _): self.init(.unknownTopic, error.message)
        case .refused(let status, _, _, _) where status >= 500: self.init(.unreachable, error.message)
        case .refused: self.init(.refused, error.message)
        }
        retryAfter = error.retryAfter
    }
}
