// SPDX-License-Identifier: Apache-2.0

/// An error in a command line.
package struct UsageError: Error, Equatable, Sendable {
    /// The kind of error.
    package enum Problem: Equatable, Sendable {
        /// The option is unknown; `closest` is the most similar name, with its dashes.
        case unknownOption(String, closest: String?)
        /// The word begins with a dash and a digit; it is not an option, and negative values are not accepted.
        case negativeNumber(String)
        /// The option needs a value, but the command line ends.
        case missingValue(option: String, placeholder: String)
        /// The command line gives a value to a switch.
        case unexpectedValue(option: String)
        /// The option occurs twice and is not repeatable.
        case repeatedOption(String)
        /// The command is unknown; `closest` is the most similar name in quotation marks.
        case unknownCommand(String, closest: String?)
        /// The command line ends before it names a subcommand; carries the help text to show instead of an error.
        case missingCommand(help: String)
        /// A required argument is missing.
        case missingArgument(placeholder: String)
        /// The command line has one word too many.
        case unexpectedArgument(String)
        /// The option or argument does not accept this value.
        ///
        /// `closest` is the most similar accepted value in quotation marks.
        case badValue(of: String, value: String, expected: String, closest: String? = nil)
        /// Some options or words exclude each other.
        case contradiction(String)
    }

    package let problem: Problem
    /// The command as typed, for example `posthorn app add`.
    package let command: String

    package init(_ problem: Problem, command: String) {
        self.problem = problem
        self.command = command
    }

    /// Describes the error in one line.
    package var message: String {
        switch problem {
        case .unknownOption(let name, _): "unknown option \(name)"
        case .negativeNumber(let word): "invalid value '\(word)': numbers and durations cannot be negative"
        case .missingValue(let option, let placeholder): "\(option) needs a value: \(option) \(placeholder)"
        case .unexpectedValue(let option): "\(option) does not take a value"
        case .repeatedOption(let option): "\(option) is given more than once"
        case .unknownCommand(let name, _): "unknown command '\(name)'"
        case .missingCommand: "missing command"
        case .missingArgument(let placeholder):
            placeholder.utf8.starts(with: "--".utf8)
                ? "missing option: \(placeholder)" : "missing argument: \(placeholder)"
        case .unexpectedArgument(let word): "unexpected argument '\(word)'"
        case .badValue(let name, let value, let expected, _): "invalid value '\(value)' for \(name): \(expected)"
        case .contradiction(let text): text
        }
    }

    /// Suggests a remedy in one line.
    package var remedy: String {
        let help = "Run '\(command) --help' for usage."
        return switch problem {
        case .unknownOption(_, .some(let closest)), .unknownCommand(_, .some(let closest)),
            .badValue(_, _, _, .some(let closest)):
            "Did you mean \(closest)? \(help)"
        case .negativeNumber: "If this is a text, write '--' before it. \(help)"
        case .missingCommand, .unknownOption, .missingValue, .unexpectedValue, .repeatedOption, .unknownCommand,
            .missingArgument,
            .unexpectedArgument, .badValue, .contradiction:
            help
        }
    }
}
