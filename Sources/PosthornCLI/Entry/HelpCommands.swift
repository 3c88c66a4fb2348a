// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit

/// The commands `posthorn help` and `posthorn completion`.
enum HelpCommands {
    static let help: CommandNode = CommandNode(
        Command(
            "help", "Show help for a command.",
            arguments: [
                Argument(
                    "COMMAND", "The command, for example 'app add'. Default: the list of commands.", optional: true,
                    repeatable: true)
            ])
    ) { (invocation, _) throws(CommandError) in
        // `help COMMAND` is parsed as `COMMAND --help`, so that one code path finds the command.
        switch AdminProgram.root.command.parse(invocation.arguments.filter { !$0.hasPrefix("-") } + ["--help"]) {
        case .success(.help(let text)): return Report(withoutLastNewline(text), json: ["help": text])
        case .success(.run), .success(.version): preconditionFailure("--help asks for help")
        case .failure(let error): throw .usage(error)
        }
    }

    static let completion: CommandNode = CommandNode(
        Command(
            "completion", "Print a shell completion script.",
            arguments: [
                Argument("SHELL", "bash, zsh or fish.", values: .choice(Completion.Shell.allCases.map(\.rawValue)))
            ],
            examples: [
                Explanation("eval \"$(posthorn completion bash)\"", "Add this line to ~/.bashrc."),
                Explanation("posthorn completion zsh > ~/.zfunc/_posthorn", "Add ~/.zfunc to fpath before compinit."),
                Explanation("posthorn completion fish > ~/.config/fish/completions/posthorn.fish", "Run this once."),
            ])
    ) { (invocation, _) throws(CommandError) in
        guard let shell = Completion.Shell(rawValue: invocation.arguments[0]) else {
            throw .usage(invocation.error(.missingArgument(placeholder: "SHELL")))
        }
        let script = Completion.script(for: AdminProgram.root.command, shell: shell)
        return Report(withoutLastNewline(script), json: ["script": script])
    }

    private static func withoutLastNewline(_ text: String) -> String {
        text.hasSuffix("\n") ? String(text.dropLast()) : text
    }
}
