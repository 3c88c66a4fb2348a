// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// Why a command did not do what it was asked.
package enum CommandError: Error, Sendable {
    /// The command line.
    case usage(UsageError)
    /// No admin socket answered; each with what was found there.
    case adminUnreachable([SocketAttempt])
    /// The admin socket took the request and gave no answer.
    case adminInterrupted(path: String, text: String)
    /// The server said no to an admin request.
    case adminRefused(status: Int, DeviceAPI.Failure)
    /// An answer that this version does not understand.
    case badAnswer(of: String, detail: String)
    /// There is no bus: the session's, or the one of this value of `POSTHORN_AGENT_BUS`.
    case noBus(variable: String?, String)
    /// Nobody has the agent's name on that bus, or it does not answer.
    case agentUnreachable(String, variable: String?)
    /// The agent said no: the D-Bus error name and its text.
    case agentRefused(name: String, message: String)
    /// The server for providers could not be reached.
    case serverUnreachable(url: String, text: String)
    /// The server for providers showed a certificate that is not trusted.
    case serverNotTrusted(url: String, text: String)
    /// A notification that cannot be sent as it is.
    case notSent(String)
    /// A file that could not be read or written.
    case file(FileError)
    /// A file that was read and makes no sense.
    case badFile(path: String, problem: String, remedy: String)
    /// Another one, for which this command knows something better to do.
    indirect case advised(CommandError, remedy: String)
    /// The person said no.
    case notConfirmed
    /// The server made no backup, and says why.
    case backupFailed(String)
    /// A password was typed twice, and not the same.
    case notTheSamePassword

    /// One line that says what is wrong.
    package var problem: String {
        switch self {
        case .usage(let error): error.message
        case .adminUnreachable(let attempts): Self.problem(of: attempts)
        case .adminInterrupted(let path, let text): "the server on \(path) gave no answer: \(text)"
        case .adminRefused(let status, let failure): "the server refused: \(failure.error) (\(status))"
        case .badAnswer(let answerer, let detail): "\(answerer) gave an answer that makes no sense: \(detail)"
        case .noBus(nil, let text): "there is no session bus: \(text)"
        case .noBus(let value?, let text):
            "\(BusConnection.Bus.agentVariable) is '\(value)', and there is no such bus: \(text)"
        case .agentUnreachable(let text, _): "the agent cannot be reached: \(text)"
        case .agentRefused(_, let message): "the agent refused: \(message)"
        case .serverUnreachable(let url, let text): "\(url) cannot be reached: \(text)"
        case .serverNotTrusted(let url, let text): "\(url) is not trusted: \(text)"
        case .notSent(let text): "the notification cannot be sent: \(text)"
        case .file(let error): error.problem
        case .badFile(let path, let problem, _): "\(path): \(problem)"
        case .advised(let error, _): error.problem
        case .notConfirmed: "nothing was done"
        case .backupFailed(let text): "there is no backup: \(text)"
        case .notTheSamePassword: "the two passwords are not the same"
        }
    }

    /// One line that says what to do.
    package var remedy: String {
        switch self {
        case .usage(let error): error.remedy
        case .adminUnreachable(let attempts): Self.remedy(of: attempts)
        case .adminInterrupted: "See whether posthornd still runs, and its log: journalctl -u posthornd"
        case .adminRefused(_, let failure): failure.detail
        case .badAnswer: "Use posthorn, posthornd and posthorn-agent of one version."
        case .noBus(nil, _): "Run this in the person's session, or set DBUS_SESSION_BUS_ADDRESS."
        case .noBus(let value?, _): BusConnection.Bus.remedy(agentValue: value)
        case .agentUnreachable(_, nil):
            "Start the agent: systemctl --user start posthorn-agent, or posthorn-agent in a terminal of the session."
        case .agentUnreachable(_, "system"?): "Start the machine's agent: systemctl start posthorn-agent-system"
        case .agentUnreachable(_, let value?):
            "Start the agent on that bus: \(BusConnection.Bus.agentVariable)=\(value) posthorn-agent"
        case .agentRefused(let name, _): AgentFailure(busName: name).remedy
        case .serverUnreachable: "Check the address and whether posthornd runs; --server names another one."
        case .serverNotTrusted: "Name the server's authority with --ca-file, and use a host name of its certificate."
        case .notSent: "Look for control characters in the options, and for a server that speaks no HTTP/2."
        case .file(let error): error.remedy
        case .badFile(_, _, let remedy): remedy
        case .advised(_, let remedy): remedy
        case .notConfirmed: "Answer y, or give --yes."
        case .backupFailed: "Nothing is left of it; correct what it says and back up again."
        case .notTheSamePassword: "Try again, or put the password into a file: --password-file."
        }
    }

    /// What the program ends with.
    package var exitCode: ExitCode {
        switch self {
        case .usage: .usage
        case .adminUnreachable(let attempts):
            attempts.contains { $0.finding == .noPermission } ? .notPermitted : .unreachable
        case .adminRefused(let status, _): Self.exitCode(status: status)
        case .badAnswer, .notSent, .badFile, .notConfirmed, .notTheSamePassword, .backupFailed: .refused
        case .adminInterrupted, .noBus, .agentUnreachable, .serverUnreachable, .serverNotTrusted: .unreachable
        case .agentRefused(let name, _): AgentFailure(busName: name).exitCode
        case .file(let error): error.exitCode
        case .advised(let error, _): error.exitCode
        }
    }

    /// What `--json` prints of it.
    package var json: [String: String] {
        let sentence = problem.utf8.last == UInt8(ascii: ".") ? problem : problem + "."
        return ["error": exitCode.word, "detail": "\(sentence) \(remedy)"]
    }

    private static func exitCode(status: Int) -> ExitCode {
        switch status {
        case 401, 403: .notPermitted
        case 404, 410: .notFound
        case 429, 503: .tryLater
        default: .refused
        }
    }

    private static func problem(of attempts: [SocketAttempt]) -> String {
        let tried = attempts.map { "\($0.path) (\($0.finding.text))" }.joined(separator: ", ")
        return "no server answers on \(tried)"
    }

    private static func remedy(of attempts: [SocketAttempt]) -> String {
        if attempts.contains(where: { $0.finding == .noPermission }) {
            return "Run this as root, or as the user of posthornd: nobody else may administer it."
        }
        return "Start posthornd (systemctl start posthornd), or name its socket with --socket."
    }
}
