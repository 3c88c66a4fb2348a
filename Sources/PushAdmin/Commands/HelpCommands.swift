// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// `posthorn help` and `posthorn completion`.
enum HelpCommands {
    static let help: CommandNode = CommandNode(
        Command(
            "help", "Show what a command does.",
            arguments: [
                Argument(
                    "COMMAND", "The command, for example 'app add'; all if left out.", optional: true,
                    repeatable: true)
            ])
    ) { (invocation, _) throws(CommandError) in
        // As if it had been asked for behind the command, so that there is one way to find it.
        switch AdminProgram.root.command.parse(invocation.arguments.filter { !$0.hasPrefix("-") } + ["--help"]) {
        case .success(.help(let text)): return Report(withoutLastNewline(text), json: ["help": text])
        case .success(.run), .success(.version): preconditionFailure("--help asks for help")
        case .failure(let error): throw .usage(error)
        }
    }

    static let completion: CommandNode = CommandNode(
        Command(
            "completion", "Print a script that makes a shell complete commands and options.",
            arguments: [
                Argument("SHELL", "bash, zsh or fish.", values: .choice(Completion.Shell.allCases.map(\.rawValue)))
            ],
            examples: [
                Explanation("eval \"$(posthorn completion bash)\"", "In ~/.bashrc."),
                Explanation("posthorn completion zsh > ~/.zfunc/_posthorn", "With ~/.zfunc in fpath, before compinit."),
                Explanation("posthorn completion fish > ~/.config/fish/completions/posthorn.fish", "Once."),
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
