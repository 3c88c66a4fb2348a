// SPDX-License-Identifier: Apache-2.0

package import CommandLineKit
package import PushAPI
package import PushCore
internal import PushDBus

/// The reason why a command failed.
package enum CommandError: Error, Sendable {
    case usage(UsageError)
    /// No admin socket answered; carries every path tried and the reason for each.
    case adminUnreachable([SocketAttempt])
    /// The server did not answer an admin request in time.
    case adminSilent(path: String)
    /// The connection to the admin socket broke before the server answered.
    case adminInterrupted(path: String, text: String)
    /// The server refused an admin request.
    case adminRefused(status: Int, DeviceAPI.Failure)
    /// The server or the agent sent an invalid response.
    case badAnswer(of: String, detail: String)
    /// The bus does not exist: the session bus, or the one that `POSTHORN_AGENT_BUS` names.
    case noBus(variable: String?, String)
    /// The agent does not own its name on that bus, or it does not answer.
    case agentUnreachable(String, variable: String?)
    /// The agent refused: the D-Bus error name and its text.
    case agentRefused(name: String, message: String)
    case serverUnreachable(url: String, text: String)
    /// The server for providers showed a certificate that is not trusted.
    case serverNotTrusted(url: String, text: String)
    /// The server for providers showed an expired certificate.
    case certificateExpired(at: Timestamp)
    /// The notification cannot be sent as it is.
    case notSent(String)
    case file(FileError)
    /// A file was read and its content is invalid.
    case badFile(path: String, problem: String, remedy: String)
    /// Another error, with a remedy that fits this command better.
    indirect case advised(CommandError, remedy: String)
    /// Another error, with a problem text that also contains the remedy.
    indirect case reworded(CommandError, problem: String)
    /// The user answered no to a question.
    case notConfirmed
    /// The server failed to make a backup; carries its reason.
    case backupFailed(String)
    /// The server has accepted a request, but the result is not there yet.
    case unfinished(String, remedy: String)
    /// The two passwords that the user typed do not match.
    case notTheSamePassword

    /// The problem, in one line.
    var problem: String {
        switch self {
        case .usage(let error): error.message
        case .adminUnreachable(let attempts): Self.problem(of: attempts)
        case .adminSilent(let path): "posthornd at \(path) does not answer"
        case .adminInterrupted(let path, let text): "lost the connection to posthornd at \(path): \(text)"
        case .adminRefused(let status, let failure): "the server refused: \(failure.error) (\(status))"
        case .badAnswer(let answerer, let detail): "\(answerer) sent an invalid response: \(detail)"
        case .noBus(nil, let text): "cannot connect to the session bus: \(text)"
        case .noBus(let value?, let text):
            "cannot connect to the bus '\(value)' in \(BusConnection.Bus.agentVariable): \(text)"
        case .agentUnreachable(let text, _): "cannot connect to posthorn-agent: \(text)"
        case .agentRefused(let name, let message): Self.problem(ofAgent: name, message)
        case .serverUnreachable(let url, let text): "cannot connect to \(url): \(text)"
        case .serverNotTrusted(let url, let text): "the certificate of \(url) is not trusted: \(text)"
        case .certificateExpired(let end):
            "the server's certificate expired on \(LocalTime.text(end).prefix(10)); renew it"
        case .notSent(let text): "cannot send the notification: \(text)"
        case .file(let error): error.problem
        case .badFile(let path, let problem, _): "\(path): \(problem)"
        case .advised(let error, _): error.problem
        case .reworded(_, let problem): problem
        case .notConfirmed: "Aborted."
        case .unfinished(let problem, _): problem
        case .backupFailed(let text): "the backup failed: \(text)"
        case .notTheSamePassword: "the passwords do not match"
        }
    }

    /// The remedy, in one line; empty if the problem says enough.
    var remedy: String {
        switch self {
        case .usage(let error): error.remedy
        case .adminUnreachable(let attempts): Self.remedy(of: attempts)
        case .adminSilent:
            "Check its log with 'journalctl -u posthornd', or restart it with 'systemctl restart posthornd'."
        case .adminInterrupted: "Check whether posthornd is still running: systemctl status posthornd"
        case .adminRefused(_, let failure): failure.detail
        case .badAnswer: "Install the same version of posthorn, posthornd and posthorn-agent."
        case .noBus(nil, _): "Run this command in the user's session, or set DBUS_SESSION_BUS_ADDRESS."
        case .noBus(let value?, _): BusConnection.Bus.remedy(agentValue: value)
        case .agentUnreachable(_, nil):
            "Start it: systemctl --user start posthorn-agent"
        case .agentUnreachable(_, "system"?): "Start it: systemctl start posthorn-agent-system"
        case .agentUnreachable(_, let value?):
            "Start it on that bus: \(BusConnection.Bus.agentVariable)=\(value) posthorn-agent"
        case .agentRefused(let name, _): AgentFailure(busName: name).remedy
        case .serverUnreachable: "Is posthornd running there? Check the address, or specify another one with --server."
        case .serverNotTrusted:
            "Specify the server's CA certificate with --ca-file, and use a host name that its certificate contains."
        case .notSent: "Check the options for control characters, and that the server supports HTTP/2."
        case .file(let error): error.remedy
        case .badFile(_, _, let remedy): remedy
        case .advised(_, let remedy), .unfinished(_, let remedy): remedy
        case .notConfirmed, .reworded, .certificateExpired: ""
        case .backupFailed: "The incomplete backup was removed. Correct the problem and try again."
        case .notTheSamePassword: "Try again, or read the password from a file with --password-file."
        }
    }

    var exitCode: ExitCode {
        switch self {
        case .usage: .usage
        case .adminUnreachable(let attempts):
            attempts.contains { $0.finding == .noPermission } ? .notPermitted : .unreachable
        case .adminRefused(let status, _): Self.exitCode(status: status)
        case .badAnswer, .notSent, .badFile, .notConfirmed, .notTheSamePassword, .backupFailed: .refused
        case .adminSilent, .adminInterrupted, .noBus, .agentUnreachable, .serverUnreachable, .serverNotTrusted,
            .certificateExpired:
            .unreachable
        case .agentRefused(let name, _): AgentFailure(busName: name).exitCode
        case .unfinished: .tryLater
        case .file(let error): error.exitCode
        case .advised(let error, _), .reworded(let error, _): error.exitCode
        }
    }

    /// The JSON object that `--json` prints for this error.
    var json: [String: String] {
        let endings = [UInt8(ascii: "."), UInt8(ascii: "?")]
        let sentence = problem.utf8.last.map(endings.contains) ?? false ? problem : problem + "."
        return ["error": exitCode.word, "detail": remedy.isEmpty ? sentence : "\(sentence) \(remedy)"]
    }

    private static func exitCode(status: Int) -> ExitCode {
        switch status {
        case 401, 403: .notPermitted
        case 404, 410: .notFound
        case 429, 503: .tryLater
        default: .refused
        }
    }

    /// Writes a sentence of the agent like the other problems: with a small first letter, and without the period.
    private static func problem(ofAgent name: String, _ message: String) -> String {
        guard case .agent = AgentFailure(busName: name), !message.hasSameBytes(as: name),
            let first = message.first, message.dropFirst().first?.isUppercase != true
        else { return "posthorn-agent refused: \(message)" }
        let text = first.lowercased() + message.dropFirst()
        return text.hasSuffix(".") && !text.contains(". ") ? String(text.dropLast()) : text
    }

    private static func problem(of attempts: [SocketAttempt]) -> String {
        let tried = attempts.map { "\($0.path): \($0.finding.text)" }.joined(separator: "; ")
        return "cannot connect to posthornd at \(tried)."
            + (attempts.contains { $0.finding == .noPermission } ? "" : " Is it running?")
    }

    private static func remedy(of attempts: [SocketAttempt]) -> String {
        if attempts.contains(where: { $0.finding == .noPermission }) {
            return "Run this command as root or as the user of posthornd."
        }
        return "Start it with 'systemctl start posthornd', or specify its socket with --socket. If it does not start, "
            + "'posthornd --check-config' and 'journalctl -u posthornd' show why."
    }
}
