// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import FoundationEssentials
internal import Glibc
internal import PushCore

/// The program `posthorn`: its command tree and its entry point.
package enum AdminProgram {
    /// All commands of the program, as a tree.
    package static let root: CommandNode = CommandNode(
        group: "posthorn", "Manage a Posthorn server and the notifications of this user.",
        discussion: """
            Server commands connect to posthornd on this machine through its admin socket. Device commands connect to \
            this user's posthorn-agent over D-Bus.
            """,
        options: [
            Option("json", "Print JSON instead of text."),
            Option("socket", value: "PATH", "The path of the server's admin socket.", values: .file),
        ],
        environment: [
            Explanation(AdminSocket.variable, "The path of the server's admin socket; --socket overrides it.")
        ],
        exitCodes: ExitCode.explanations,
        examples: [
            Explanation("posthorn app add org.example.Mail", "Add an app to the server."),
            Explanation("posthorn key create", "Create a signing key for a back-end."),
            Explanation("posthorn enrol", "Create a code that lets one device enrol."),
        ],
        children: serverCommands + deviceCommands + tools,
        headings: [
            Command.Heading("Server", serverCommands.map(\.command.name)),
            Command.Heading("Device (notifications of this user)", deviceCommands.map(\.command.name)),
            Command.Heading("Tools", tools.map(\.command.name)),
        ],
        manual: Manual(section: 1, related: ["posthornd(8)", "posthorn-agent(1)", "posthorn-panel(1)"]))

    private static let serverCommands: [CommandNode] = [
        StatusCommand.node, TopCommand.node, AppCommands.group, TeamCommands.group, KeyCommands.group,
        TokenCommands.group,
        CertificateCommands.group,
        ChannelCommands.group, QuotaCommands.group, EnrolCommand.node, CodeCommands.group, DeviceCommands.group,
        PolicyCommands.group, AuthorityCommands.group, ClusterCommands.group, TraceCommand.node, BackupCommand.node,
        MigrateCommand.node,
    ]

    private static let deviceCommands: [CommandNode] = [
        AgentCommands.group, SettingsCommands.group, QuietCommand.node, InboxCommands.group, WatchCommand.node,
        BadgeCommand.node, SoundCommands.group, RegisterCommands.register, RegisterCommands.unregister,
        SubscribeCommands.subscribe, SubscribeCommands.unsubscribe,
    ]

    private static let tools: [CommandNode] = [
        SendCommand.node, DoctorCommand.node, LintCommand.node, HelpCommands.completion, HelpCommands.help,
    ]

    /// Parses a command line, runs the command and prints the outcome.
    ///
    /// - Parameters:
    ///   - arguments: The arguments, without the program's own name.
    ///   - context: The environment variables and the effective user.
    /// - Returns: The exit code of the process.
    package static func run(_ arguments: [String], in context: CommandContext) -> ExitCode {
        do throws(CommandError) {
            switch root.command.parse(arguments) {
            case .failure(let error): throw .usage(error)
            case .success(.help(let text)): return try Console.write(text)
            case .success(.version): return try Console.write("posthorn \(ProductVersion.text)\n")
            case .success(.run(let invocation)):
                guard let run = root.find(invocation.path.dropFirst()) else {
                    preconditionFailure("\(invocation.command) does nothing")
                }
                return try Console.show(try run(invocation, context), asJSON: invocation.has("json"))
            }
        } catch {
            if wantsJSON(arguments) { Console.show(failure: error.json) }
            if case .usage(let usage) = error, case .missingCommand(let help) = usage.problem {
                Console.note([help.hasSuffix("\n") ? String(help.dropLast()) : help])
            } else if case .notConfirmed = error {
                Console.note([error.problem])
            } else {
                Console.complain(problem: error.problem, remedy: error.remedy)
            }
            return error.exitCode
        }
    }

    /// Returns whether `--json` is among the arguments, even when the command line is invalid.
    private static func wantsJSON(_ arguments: [String]) -> Bool {
        if case .success(.run(let invocation)) = root.command.parse(arguments) { return invocation.has("json") }
        return arguments.prefix { $0 != "--" }.contains("--json")
    }
}

extension AdminProgram {
    /// Runs a command line with this process's environment, then ends the process.
    ///
    /// - Parameter arguments: The arguments, without the program's own name.
    package static func main(_ arguments: [String]) -> Never {
        // A write to a closed pipe then fails with EPIPE, which ends the process with exit code 1.
        _ = signal(SIGPIPE, SIG_IGN)
        let context = CommandContext(environment: ProcessInfo.processInfo.environment, isRoot: geteuid() == 0)
        exit(run(arguments, in: context).rawValue)
    }
}
