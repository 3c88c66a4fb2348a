// SPDX-License-Identifier: Apache-2.0

/// Makes completion scripts for shells from the table of commands.
///
/// Every script holds one row for each place in a command line: the words typed so far without options and values
/// (`posthorn app`), and what may come next there.
package enum Completion {
    /// A shell that can complete.
    package enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    /// The script that makes a shell complete a program's commands, options and values.
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
        /// For example `posthorn app`.
        let path: [String]
        let subcommands: [Command]
        let arguments: [Argument]
        /// Those of the command and of the commands above.
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

    /// What completion offers for a value, as one word: `@file`, `@directory`, or the words themselves.
    static func offer(_ values: ValueKind) -> [String] {
        switch values {
        case .text: []
        case .file: ["@file"]
        case .directory: ["@directory"]
        case .suggestions(let words), .choice(let words): words
        }
    }

    /// A text between single quotes, as bash and zsh read it.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
