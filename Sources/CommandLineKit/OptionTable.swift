// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The options of one command, in the order in which `--help` shows them.
package struct OptionTable: Sendable, ExpressibleByArrayLiteral {
    /// The option `--help`, which every command accepts.
    package static let help = Option("help", short: "h", "Show this help and exit.")
    /// The option `--version`, which every program accepts.
    package static let version = Option("version", "Show the version and exit.")

    package let options: [Option]

    /// Creates a table; two options with the same name or letter are a programming error and stop the process.
    package init(_ options: [Option]) {
        for (index, option) in options.enumerated() {
            let earlier = options[..<index]
            precondition(
                !earlier.contains { $0.name.hasSameBytes(as: option.name) }, "two options are called --\(option.name)")
            precondition(
                option.short == nil || !earlier.contains { $0.short == option.short },
                "two options share the letter of --\(option.name)")
        }
        self.options = options
    }

    package init(arrayLiteral elements: Option...) { self.init(elements) }

    /// Returns a table with the options of both.
    package static func + (first: OptionTable, second: OptionTable) -> OptionTable {
        OptionTable(first.options + second.options)
    }

    /// Returns the option of this name, without dashes; names are compared as bytes.
    package func find(_ name: some StringProtocol) -> Option? {
        options.first { $0.name.hasSameBytes(as: name) }
    }

    /// Returns the option with this letter.
    package func find(short: Character) -> Option? {
        options.first { $0.short.map(String.init)?.hasSameBytes(as: String(short)) ?? false }
    }

    /// Returns the most similar option name; nil if none is similar enough.
    package func closest(to name: some StringProtocol) -> String? {
        Spelling.closest(to: name, among: options.map(\.name))
    }
}
