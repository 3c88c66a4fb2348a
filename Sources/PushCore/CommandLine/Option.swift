// SPDX-License-Identifier: Apache-2.0

/// One option of a command: `--name`, or `--name VALUE`.
package struct Option: Sendable {
    /// Without the two dashes.
    package let name: String
    /// One ASCII letter for `-n`; nil for none.
    package let short: Character?
    /// What `--help` shows for the value, for example `FILE`; nil for a switch, which takes none.
    package let placeholder: String?
    /// One phrase for `--help`.
    package let help: String
    /// Whether it may come more than once.
    package let isRepeatable: Bool
    /// What the value may be.
    package let values: ValueKind

    /// Describes an option.
    package init(
        _ name: String, short: Character? = nil, value placeholder: String? = nil, _ help: String,
        repeatable isRepeatable: Bool = false, values: ValueKind = .text
    ) {
        self.name = name
        self.short = short
        self.placeholder = placeholder
        self.help = help
        self.isRepeatable = isRepeatable
        self.values = values
    }
}

/// One word that a command takes besides its options.
package struct Argument: Sendable {
    /// What `--help` shows for it, for example `TOPIC`.
    package let placeholder: String
    /// One phrase for `--help`.
    package let help: String
    /// Whether the command works without it; only optional ones may follow.
    package let isOptional: Bool
    /// Whether it takes all words that are left; nothing may follow.
    package let isRepeatable: Bool
    /// What it may be.
    package let values: ValueKind

    /// Describes an argument.
    package init(
        _ placeholder: String, _ help: String, optional isOptional: Bool = false,
        repeatable isRepeatable: Bool = false, values: ValueKind = .text
    ) {
        self.placeholder = placeholder
        self.help = help
        self.isOptional = isOptional
        self.isRepeatable = isRepeatable
        self.values = values
    }
}

/// What a value may be: for checks and for completion.
package enum ValueKind: Sendable {
    /// Anything.
    case text
    /// The name of a file.
    case file
    /// The name of a directory.
    case directory
    /// Completion offers these words; others are taken too.
    case suggestions([String])
    /// One of these words; anything else is refused.
    case choice([String])
}
