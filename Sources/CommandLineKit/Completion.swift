// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Creates shell completion scripts from the table of commands.
///
/// Each script has one row for each point in a command line. A row holds the words typed so far without options and
/// values (`posthorn app`), and the words that may come next.
package enum Completion {
    /// A shell that has a completion script.
    package enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    /// Returns the script that completes a program's commands, options and values.
    package static func script(for program: Command, shell: Shell) -> String {
        let points = points(under: [program])
        return switch shell {
        case .bash: bashScript(program: program.name, points: points)
        case .zsh: zshScript(program: program.name, points: points)
        case .fish: fishScript(program: program.name, points: points)
        }
    }

    /// One command with everything that may follow its name.
    struct CompletionPoint {
        /// The names from the program to the command, for example `["posthorn", "app"]`.
        let path: [String]
        let subcommands: [Command]
        let arguments: [Argument]
        /// The options of the command and of its parents.
        let options: [Option]

        var name: String { path.joined(separator: " ") }
    }

    private static func points(under path: [Command]) -> [CompletionPoint] {
        guard let command = path.last else { return [] }
        let unused = path.flatMap(\.unused)
        let options =
            path.flatMap(\.options.options).filter { option in !unused.contains { $0.hasSameBytes(as: option.name) } }
            + [OptionTable.help, OptionTable.version]
        let point = CompletionPoint(
            path: path.map(\.name), subcommands: command.subcommands, arguments: command.arguments, options: options)
        return [point] + command.subcommands.flatMap { points(under: path + [$0]) }
    }

    /// Returns the completion offers for a value: `@file`, `@directory`, or the words themselves.
    static func offer(_ values: ValueKind) -> [String] {
        switch values {
        case .text: []
        case .file: ["@file"]
        case .directory: ["@directory"]
        case .suggestions(let words), .choice(let words): words
        }
    }

    /// Quotes a text with single quotes for bash and zsh.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
