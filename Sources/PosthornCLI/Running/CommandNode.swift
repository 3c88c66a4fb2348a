// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit

/// A command with its implementation, or a group of commands.
package struct CommandNode: Sendable {
    /// The implementation of a command.
    typealias Run = @Sendable (Invocation, CommandContext) throws(CommandError) -> Report

    /// The description of the command, including those of its children.
    let command: Command
    /// The implementation; nil for a group.
    let run: Run?
    let children: [CommandNode]

    /// Creates a command with an implementation.
    init(_ command: Command, run: @escaping Run) {
        self.command = command
        self.run = run
        children = []
    }

    /// Creates a group, which only contains other commands.
    init(
        group name: String, _ summary: String, discussion: String = "", options: OptionTable = [],
        environment: [Explanation] = [], exitCodes: [Explanation] = [], examples: [Explanation] = [],
        unused: [String] = [], children: [CommandNode], headings: [Command.Heading] = [], defaultChild: String? = nil,
        manual: Manual? = nil
    ) {
        command = Command(
            name, summary, discussion: discussion, options: options, examples: examples, environment: environment,
            exitCodes: exitCodes, unused: unused, subcommands: children.map(\.command), headings: headings,
            defaultSubcommand: defaultChild, manual: manual)
        run = nil
        self.children = children
    }

    /// Returns the implementation of the command at the end of the path, whose first element is a child's name.
    func find(_ path: some Collection<String>) -> Run? {
        guard let name = path.first else { return run }
        return children.first { $0.command.name == name }?.find(path.dropFirst())
    }
}

/// Options that several commands share.
enum SharedOptions {
    static let yes = Option("yes", short: "y", "Skip the confirmation prompt (never shown without a terminal).")
}
