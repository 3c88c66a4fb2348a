// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The command `posthorn agent trust`.
extension AgentCommands {
    static let trustNode = CommandNode(
        Command(
            "trust", "Trust another CA of the server, and keep all device tokens.",
            discussion: """
                Use it if the server changed its CA while this device was away. Without CODE and --ca-file, the command \
                shows which CAs the server presents, and changes nothing. Get the code from the server's administrator: \
                'posthorn authority list' prints it on the server. This command shows no codes, because an attacker \
                who intercepts the connection presents a CA of their own.
                """,
            arguments: [Argument("CODE", "The code of the CA, six groups of four characters.", optional: true)],
            options: [Option("ca-file", value: "FILE", "The CA certificate (PEM), instead of a code.", values: .file)],
            examples: [
                Explanation("posthorn agent trust", "Show which CAs the server presents."),
                Explanation("posthorn agent trust CODE", "Trust the CA with this code."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let (code, file) = (invocation.argument(0), invocation.value("ca-file"))
        guard code == nil || file == nil else {
            throw .usage(invocation.error(.contradiction("specify either CODE or --ca-file")))
        }
        if let code, EnrolmentCode.authority(typed: code) == nil {
            throw .usage(
                invocation.error(.badValue(of: "CODE", value: code, expected: "use six groups of four characters")))
        }
        if let file { try LocalFile.checkCertificate(file) }
        let agent = try context.agent()
        guard code != nil || file != nil else {
            let call = AgentCall(.listAuthorities)
            return report(
                of: try AgentAnswer.list(try agent.call(call), of: call.method, as: AuthorityRecord.self))
        }
        do throws(CommandError) {
            try agent.call(AgentCall(.trust, .string(code ?? ""), .string(file.map(LocalFile.absolute) ?? "")))
        } catch {
            throw adviceOnTrust(error)
        }
        return Report("The CA is trusted. The agent connects now.", json: Done())
    }

    /// Adds a remedy to an error of `Trust`.
    static func adviceOnTrust(_ error: CommandError) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        switch AgentFailure(busName: name) {
        case .agent(.notTrusted), .agent(.invalidArguments):
            return .advised(
                error,
                remedy:
                    "Ask the administrator for the code that 'posthorn authority list' prints on the server, or for the "
                    + "certificate of the CA and use --ca-file.")
        default:
            return error
        }
    }

    /// Formats the certificates that the server presents.
    static func report(of authorities: [AuthorityRecord]) -> Report {
        guard !authorities.isEmpty else {
            return Report(
                "The server presents no CA. Specify the certificate of its CA with --ca-file.",
                json: ["authorities": authorities])
        }
        let table = Table(
            [.text("SUBJECT"), .text("VALID UNTIL"), .text("TRUSTED")],
            rows: authorities.map { authority in
                [
                    authority.subject, authority.expiresAt.map { LocalTime.text($0) } ?? "-",
                    authority.isTrusted ? "yes" : "no",
                ]
            })
        return Report(table.text, json: ["authorities": authorities])
    }
}
