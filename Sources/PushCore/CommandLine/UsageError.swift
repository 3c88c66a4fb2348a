// SPDX-License-Identifier: Apache-2.0

/// Why a command line could not be understood.
package struct UsageError: Error, Equatable, Sendable {
    /// What was wrong.
    package enum Problem: Equatable, Sendable {
        /// Nothing is called that; `closest` is the name most like it, with its dashes.
        case unknownOption(String, closest: String?)
        /// The option needs a value and none followed.
        case missingValue(option: String, placeholder: String)
        /// A switch was given a value.
        case unexpectedValue(option: String)
        /// The option came twice and may not.
        case repeatedOption(String)
        /// No command is called that.
        case unknownCommand(String, closest: String?)
        /// A word had to say which command.
        case missingCommand(known: [String])
        /// A word is missing.
        case missingArgument(placeholder: String)
        /// A word is too many.
        case unexpectedArgument(String)
        /// A value that means nothing here.
        case badValue(of: String, value: String, expected: String)
        /// Options or words that do not go together.
        case contradiction(String)
    }

    /// What was wrong.
    package let problem: Problem
    /// The command as typed, for example `posthorn app add`.
    package let command: String

    /// Joins the two.
    package init(_ problem: Problem, command: String) {
        self.problem = problem
        self.command = command
    }

    /// One line that says what is wrong.
    package var message: String {
        switch problem {
        case .unknownOption(let name, _): "unknown option \(name)"
        case .missingValue(let option, let placeholder): "\(option) needs a value: \(option) \(placeholder)"
        case .unexpectedValue(let option): "\(option) takes no value"
        case .repeatedOption(let option): "\(option) is given more than once"
        case .unknownCommand(let name, _): "unknown command '\(name)'"
        case .missingCommand: "a command is missing"
        case .missingArgument(let placeholder): "\(placeholder) is missing"
        case .unexpectedArgument(let word): "unexpected '\(word)'"
        case .badValue(let name, let value, let expected): "'\(value)' is no good for \(name): \(expected)"
        case .contradiction(let text): text
        }
    }

    /// One line that says what to do.
    package var remedy: String {
        let help = "'\(command) --help' shows what is possible."
        return switch problem {
        case .unknownOption(_, .some(let closest)), .unknownCommand(_, .some(let closest)):
            "Did you mean \(closest)? \(help)"
        case .missingCommand(let known): "Add one of: \(known.joined(separator: ", ")). \(help)"
        case .unknownOption, .missingValue, .unexpectedValue, .repeatedOption, .unknownCommand, .missingArgument,
            .unexpectedArgument, .badValue, .contradiction:
            help
        }
    }
}
