// SPDX-License-Identifier: Apache-2.0

/// The options of one command, in the order in which `--help` shows them.
package struct OptionTable: Sendable, ExpressibleByArrayLiteral {
    /// `--help`, which every command has.
    package static let help = Option("help", short: "h", "Show this help and stop.")
    /// `--version`, which every program has.
    package static let version = Option("version", "Show the version and stop.")

    /// The options.
    package let options: [Option]

    /// Takes the list; two options of one name are a mistake of ours and stop the process.
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

    /// Takes the list.
    package init(arrayLiteral elements: Option...) { self.init(elements) }

    /// Both tables as one.
    package static func + (first: OptionTable, second: OptionTable) -> OptionTable {
        OptionTable(first.options + second.options)
    }

    /// The option of this name, without dashes; names are compared as bytes.
    package func find(_ name: some StringProtocol) -> Option? {
        options.first { $0.name.hasSameBytes(as: name) }
    }

    /// The option of this letter.
    package func find(short: Character) -> Option? {
        options.first { $0.short.map(String.init)?.hasSameBytes(as: String(short)) ?? false }
    }

    /// The name most like this one; nil when none is near.
    package func closest(to name: some StringProtocol) -> String? {
        Spelling.closest(to: name, among: options.map(\.name))
    }
}
