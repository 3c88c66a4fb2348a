// SPDX-License-Identifier: Apache-2.0

/// A program or one of its commands: the one table from which parsing, `--help` and completion are made.
package struct Command: Sendable {
    /// What is typed, for example `posthorn` or `list`.
    package let name: String
    /// One sentence for lists.
    package let summary: String
    /// More than the summary, for the command's own `--help`; paragraphs are separated by empty lines.
    package let discussion: String
    /// Replaces the usage lines made from options and arguments; without the command's name.
    package let usages: [String]
    /// Words that it takes, in order.
    package let arguments: [Argument]
    /// Its options; its subcommands know them too.
    package let options: OptionTable
    /// What to try.
    package let examples: [Explanation]
    /// Environment variables that it reads; shown for its subcommands too.
    package let environment: [Explanation]
    /// What it ends with; shown for its subcommands too.
    package let exitCodes: [Explanation]
    /// Options and variables of the commands above it that mean nothing to it: its help leaves them out.
    package let unused: [String]
    /// Commands of this command; when there are some, the first word must name one.
    package let subcommands: [Command]
    /// The one of them that is meant where none is named.
    package let defaultSubcommand: String?

    /// Describes a command.
    package init(
        _ name: String, _ summary: String, discussion: String = "", usages: [String] = [],
        arguments: [Argument] = [], options: OptionTable = [], examples: [Explanation] = [],
        environment: [Explanation] = [], exitCodes: [Explanation] = [], unused: [String] = [],
        subcommands: [Command] = [], defaultSubcommand: String? = nil
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
        self.defaultSubcommand = defaultSubcommand
        precondition(defaultSubcommand.map { subcommand($0) != nil } ?? true, "\(name) has no such command")
    }

    /// The subcommand of this name; names are compared as bytes.
    package func subcommand(_ name: String) -> Command? {
        subcommands.first { $0.name.hasSameBytes(as: name) }
    }
}

/// A term and what it means: an example, an environment variable, an exit code.
package struct Explanation: Sendable {
    /// What is explained.
    package let term: String
    /// Its meaning, one phrase.
    package let meaning: String

    /// Joins the two.
    package init(_ term: String, _ meaning: String) {
        self.term = term
        self.meaning = meaning
    }
}
