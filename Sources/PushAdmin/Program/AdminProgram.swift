// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PushCore

/// The program `posthorn`.
package enum AdminProgram {
    /// All commands.
    package static let root: CommandNode = CommandNode(
        group: "posthorn", "Administer Posthorn: push notifications for Linux.",
        discussion: """
            Commands for the server (app, key, certificate, channel, quota, enrol, device, send, trace, status, backup) \
            talk to posthornd on this machine, through its admin socket; lint needs none. \
            Commands for this person's notifications (agent, settings, dnd, inbox, watch, badge, register, unregister, \
            subscribe, unsubscribe) talk to posthorn-agent.
            """,
        options: [
            Option("json", "Answer in JSON, for scripts."),
            Option("socket", value: "PATH", "Where the server's admin socket is.", values: .file),
        ],
        environment: [
            Explanation(AdminSocket.variable, "Where the server's admin socket is, unless --socket says.")
        ],
        exitCodes: ExitCode.explanations,
        examples: [
            Explanation("posthorn app add org.example.Mail", "Tell the server about an app."),
            Explanation("posthorn key create", "Make the key with which a back-end signs."),
            Explanation("posthorn enrol", "Let one more device in."),
        ],
        children: [
            AppCommands.group, KeyCommands.group, CertificateCommands.group, ChannelCommands.group, QuotaCommands.group,
            PolicyCommands.group, EnrolCommand.node, DeviceCommands.group, SendCommand.node, TraceCommand.node,
            LintCommand.node,
            StatusCommand.node, BackupCommand.node,
            AgentCommands.group,
            SettingsCommands.group, QuietCommand.node, InboxCommands.group, WatchCommand.node, BadgeCommand.node,
            SoundCommands.group, RegisterCommands.register, RegisterCommands.unregister,
            SubscribeCommands.subscribe, SubscribeCommands.unsubscribe, HelpCommands.completion, HelpCommands.help,
        ])

    /// Reads a command line, does what it says and prints the outcome.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's own name.
    ///   - surroundings: What is around.
    /// - Returns: What the process ends with.
    package static func run(_ arguments: [String], in surroundings: Surroundings) -> ExitCode {
        do throws(CommandError) {
            switch root.command.parse(arguments) {
            case .failure(let error): throw .usage(error)
            case .success(.help(let text)): return try Console.write(text)
            case .success(.version): return try Console.write("posthorn \(ProductVersion.text)\n")
            case .success(.run(let invocation)):
                guard let run = root.find(invocation.path.dropFirst()) else {
                    preconditionFailure("\(invocation.command) does nothing")
                }
                return try Console.show(try run(invocation, surroundings), asJSON: invocation.has("json"))
            }
        } catch {
            if wantsJSON(arguments) { Console.show(failure: error.json) }
            Console.complain(problem: error.problem, remedy: error.remedy)
            return error.exitCode
        }
    }

    /// Whether `--json` is among the words, of which a part may make no sense.
    private static func wantsJSON(_ arguments: [String]) -> Bool {
        if case .success(.run(let invocation)) = root.command.parse(arguments) { return invocation.has("json") }
        return arguments.prefix { $0 != "--" }.contains("--json")
    }
}

extension AdminProgram {
    /// Runs with a command line and this process's environment, and ends the process.
    ///
    /// - Parameter arguments: Without the program's own name.
    package static func main(_ arguments: [String]) -> Never {
        let surroundings = Surroundings(environment: ProcessInfo.processInfo.environment, isRoot: geteuid() == 0)
        exit(run(arguments, in: surroundings).rawValue)
    }
}
