// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Creates shell completion scripts from the table of commands.
///
/// Each script has one row for each place in a command line. A row holds the words typed so far without options and
/// values (`posthorn app`), and the words that may come next.
package enum Completion {
    /// A shell that has a completion script.
    package enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    /// Returns the script that completes a program's commands, options and values.
    package static func script(for program: Command, shell: Shell) -> String {
        let places = places(under: [program])
        return switch shell {
        case .bash: bashScript(program: program.name, places: places)
        case .zsh: zshScript(program: program.name, places: places)
        case .fish: fishScript(program: program.name, places: places)
        }
    }

    /// One command with everything that may follow its name.
    struct Place {
        /// The names from the program to the command, for example `["posthorn", "app"]`.
        let path: [String]
        let subcommands: [Command]
        let arguments: [Argument]
        /// The options of the command and of its parents.
        let options: [Option]

        var name: String { path.joined(separator: " ") }
    }

    private static func places(under path: [Command]) -> [Place] {
        guard let command = path.last else { return [] }
        let unused = path.flatMap(\.unused)
        let options =
            path.flatMap(\.options.options).filter { option in !unused.contains { $0.hasSameBytes(as: option.name) } }
            + [OptionTable.help, OptionTable.version]
        let place = Place(
            path: path.map(\.name), subcommands: command.subcommands, arguments: command.arguments, options: options)
        return [place] + command.subcommands.flatMap { places(under: path + [$0]) }
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
