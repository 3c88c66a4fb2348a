// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A program or one of its commands; parsing, `--help` and shell completion all use this one table.
package struct Command: Sendable {
    /// The word that the user types, for example `posthorn` or `list`.
    package let name: String
    /// One sentence for lists of commands.
    package let summary: String
    /// The longer text for the command's own `--help`; empty lines separate paragraphs.
    package let discussion: String
    /// The usage lines that replace the generated ones; they omit the command's name.
    package let usages: [String]
    /// The positional arguments, in order.
    package let arguments: [Argument]
    /// The options of the command; its subcommands accept them too.
    package let options: OptionTable
    /// The examples for `--help`.
    package let examples: [Explanation]
    /// The environment variables that the command reads; help of its subcommands lists them too.
    package let environment: [Explanation]
    /// The exit codes; help of the subcommands lists them too.
    package let exitCodes: [Explanation]
    /// The options and variables of parent commands that do not apply to this command; its help omits them.
    package let unused: [String]
    /// The subcommands; when there are any, the first positional word must name one.
    package let subcommands: [Command]
    /// The headings under which `--help` lists the subcommands; without any, one list has all of them.
    package let headings: [Heading]
    /// The subcommand that runs when the command line names none.
    package let defaultSubcommand: String?
    /// The manual of a program; nil for its commands, which the program's page describes.
    package let manual: Manual?

    package init(
        _ name: String, _ summary: String, discussion: String = "", usages: [String] = [],
        arguments: [Argument] = [], options: OptionTable = [], examples: [Explanation] = [],
        environment: [Explanation] = [], exitCodes: [Explanation] = [], unused: [String] = [],
        subcommands: [Command] = [], headings: [Heading] = [], defaultSubcommand: String? = nil, manual: Manual? = nil
    ) {
        precondition(arguments.isEmpty || subcommands.isEmpty, "\(name) takes words or commands, not both")
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.usages = usages
        self.arguments = arguments
        self.options = options
        self.examples = examples
        self.environment = environment
        self.exitCodes = exitCodes
        self.unused = unused
        self.subcommands = subcommands
        self.headings = headings
        self.defaultSubcommand = defaultSubcommand
        self.manual = manual
        precondition(defaultSubcommand.map { subcommand($0) != nil } ?? true, "\(name) has no such command")
        let listed = headings.flatMap(\.commands)
        precondition(
            headings.isEmpty || listed.sorted() == subcommands.map(\.name).sorted(),
            "the headings of \(name) do not list each command once")
    }

    /// Other names under which the command is accepted.
    ///
    /// `--help` shows them; shell completion offers the main name only.
    var aliases: [String] {
        switch name {
        case "remove": ["delete", "rm"]
        case "revoke", "clear": ["remove", "delete", "rm"]
        case "list": ["ls"]
        case "enrol": ["enroll"]
        case "unenrol": ["unenroll"]
        default: []
        }
    }

    /// Returns the subcommand with this name or alias; names are compared as bytes.
    func subcommand(_ name: String) -> Command? {
        subcommands.first { command in
            ([command.name] + command.aliases).contains { $0.hasSameBytes(as: name) }
        }
    }

    /// A heading in the list of subcommands.
    package struct Heading: Sendable {
        /// The heading, without the colon.
        package let title: String
        /// The names of the commands under it, in the order of `--help`.
        package let commands: [String]

        package init(_ title: String, _ commands: [String]) {
            self.title = title
            self.commands = commands
        }
    }
}

/// A term with its meaning: an example, an environment variable or an exit code.
package struct Explanation: Sendable {
    let term: String
    /// The meaning, as one phrase.
    package let meaning: String

    package init(_ term: String, _ meaning: String) {
        self.term = term
        self.meaning = meaning
    }
}
