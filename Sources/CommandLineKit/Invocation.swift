// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A parsed command line.
package struct Invocation: Sendable {
    /// The names from the program to the command, for example `["posthorn", "app", "add"]`.
    package let path: [String]
    /// The words that are not options, in order; the parser has checked their number.
    package let arguments: [String]

    /// Every option that the command accepts.
    private let known: OptionTable
    /// The options on the command line, in order; a switch has an empty value.
    private let given: [(name: String, value: String)]

    init(path: [String], arguments: [String], known: OptionTable, given: [(name: String, value: String)]) {
        self.path = path
        self.arguments = arguments
        self.known = known
        self.given = given
    }

    /// The command as typed, for example `posthorn app add`.
    package var command: String { path.joined(separator: " ") }

    /// Returns whether the command line contains the option or switch.
    package func has(_ name: String) -> Bool { value(name) != nil }

    /// Returns the option's value, the last one when it is repeated; nil if the option is absent.
    package func value(_ name: String) -> String? { values(name).last }

    /// Returns all values of the option, in the order of the command line.
    package func values(_ name: String) -> [String] {
        precondition(known.find(name) != nil, "the option table of \(command) lacks --\(name)")
        return given.lazy.filter { $0.name.hasSameBytes(as: name) }.map(\.value)
    }

    /// Returns the word at this position; nil if it is optional and absent.
    package func argument(_ index: Int) -> String? { arguments.indices.contains(index) ? arguments[index] : nil }

    /// Returns the option's value as an integer in a range; nil if the option is absent.
    ///
    /// - Parameters:
    ///   - name: The option's name, without dashes.
    ///   - range: The accepted values.
    /// - Returns: The number.
    /// - Throws: `UsageError`, when the value is not an integer or is out of range; print it for the user.
    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(UsageError) -> Int64? {
        guard let text = value(name) else { return nil }
        // `Int64.init(_:)` also accepts a leading plus sign, which is harmless.
        guard let number = Int64(text), range.contains(number) else {
            throw UsageError(
                .badValue(
                    of: "--\(name)", value: text,
                    expected: "use a whole number from \(range.lowerBound) to \(range.upperBound)"),
                command: command)
        }
        return number
    }

    /// Returns an error about this command line.
    package func error(_ problem: UsageError.Problem) -> UsageError { UsageError(problem, command: command) }
}

/// The result of parsing a command line.
package enum CommandRequest: Sendable {
    /// Run the command.
    case run(Invocation)
    /// Print this text and exit.
    case help(String)
    /// Print the version and exit.
    case version
}
