// SPDX-License-Identifier: Apache-2.0

/// One option of a command: `--name`, or `--name VALUE`.
package struct Option: Sendable {
    /// The long name, without the two dashes.
    package let name: String
    /// The ASCII letter of the short form, such as `n` for `-n`; nil without a short form.
    package let short: Character?
    /// The name of the value in `--help`, for example `FILE`; nil for a switch, which has no value.
    package let placeholder: String?
    /// One phrase for `--help`.
    package let help: String
    /// Whether the option may occur more than once.
    let isRepeatable: Bool
    /// The accepted values.
    package let values: ValueKind

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

    /// The help text, with a note if the option is repeatable.
    var explanation: String { isRepeatable ? "\(help) May be repeated." : help }
}

/// One positional argument of a command.
package struct Argument: Sendable {
    /// The name of the argument in `--help`, for example `TOPIC`.
    package let placeholder: String
    /// One phrase for `--help`.
    package let help: String
    /// Whether the argument may be omitted; only optional arguments may follow it.
    let isOptional: Bool
    /// Whether the argument takes all remaining words; no argument may follow it.
    let isRepeatable: Bool
    /// The accepted values.
    package let values: ValueKind

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

/// The kind of value that an option or argument takes, for validation and completion.
package enum ValueKind: Sendable {
    case text
    case file
    case directory
    /// Completion offers these words; the parser also accepts other words.
    case suggestions([String])
    /// The parser accepts only these words.
    case choice([String])
}
