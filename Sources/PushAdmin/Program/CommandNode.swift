// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A command together with what it does, or a group of them.
package struct CommandNode: Sendable {
    /// What a command does; it throws what went wrong.
    package typealias Run = @Sendable (Invocation, Surroundings) throws(CommandError) -> Report

    /// The description, with those of the children.
    package let command: Command
    /// Nil for a group.
    package let run: Run?
    /// The commands of a group.
    package let children: [CommandNode]

    /// A command that does something.
    package init(_ command: Command, run: @escaping Run) {
        self.command = command
        self.run = run
        children = []
    }

    /// A command that only has commands.
    package init(
        group name: String, _ summary: String, discussion: String = "", options: OptionTable = [],
        environment: [Explanation] = [], exitCodes: [Explanation] = [], examples: [Explanation] = [],
        unused: [String] = [], children: [CommandNode], defaultChild: String? = nil
    ) {
        command = Command(
            name, summary, discussion: discussion, options: options, examples: examples, environment: environment,
            exitCodes: exitCodes, unused: unused, subcommands: children.map(\.command), defaultSubcommand: defaultChild)
        run = nil
        self.children = children
    }

    /// What the command at the end of the path does; the path begins with a child's name.
    package func find(_ path: some Collection<String>) -> Run? {
        guard let name = path.first else { return run }
        return children.first { $0.command.name == name }?.find(path.dropFirst())
    }
}

/// Options that several commands share.
enum SharedOptions {
    static let yes = Option("yes", short: "y", "Do not ask; without a terminal nothing is asked anyway.")
}
