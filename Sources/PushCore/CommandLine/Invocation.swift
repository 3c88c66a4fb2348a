// SPDX-License-Identifier: Apache-2.0

/// A command line that was understood.
package struct Invocation: Sendable {
    /// Names from the program's to the command's, for example `["posthorn", "app", "add"]`.
    package let path: [String]
    /// Words besides the options, in order; as many as the command takes.
    package let arguments: [String]

    /// Every option that the command knows.
    private let known: OptionTable
    /// What was given; an empty value for a switch.
    private let given: [(name: String, value: String)]

    /// Joins what the parser found.
    init(path: [String], arguments: [String], known: OptionTable, given: [(name: String, value: String)]) {
        self.path = path
        self.arguments = arguments
        self.known = known
        self.given = given
    }

    /// The command as typed, for example `posthorn app add`.
    package var command: String { path.joined(separator: " ") }

    /// Whether the option or switch was given.
    package func has(_ name: String) -> Bool { value(name) != nil }

    /// The option's value, the last one if it may come more than once; nil when it was not given.
    package func value(_ name: String) -> String? { values(name).last }

    /// All values of the option, in the order in which they came.
    package func values(_ name: String) -> [String] {
        precondition(known.find(name) != nil, "the option table of \(command) lacks --\(name)")
        return given.lazy.filter { $0.name.hasSameBytes(as: name) }.map(\.value)
    }

    /// The word at this place; nil when an optional one was left out.
    package func argument(_ index: Int) -> String? { arguments.indices.contains(index) ? arguments[index] : nil }

    /// The option's value as a whole number within bounds; nil when it was not given.
    ///
    /// - Parameters:
    ///   - name: The option.
    ///   - range: What is accepted.
    /// - Returns: The number.
    /// - Throws: When the value is no whole number or lies outside; tell the person.
    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(UsageError) -> Int64? {
        guard let text = value(name) else { return nil }
        // Int64's own parser takes a plus sign, which a person may type and nothing else means.
        guard let number = Int64(text), range.contains(number) else {
            throw UsageError(
                .badValue(
                    of: "--\(name)", value: text,
                    expected: "a whole number from \(range.lowerBound) to \(range.upperBound)"),
                command: command)
        }
        return number
    }

    /// An error about this command line.
    package func error(_ problem: UsageError.Problem) -> UsageError { UsageError(problem, command: command) }
}

/// What a command line asks for.
package enum CommandRequest: Sendable {
    /// Do this.
    case run(Invocation)
    /// Print this text and stop.
    case help(String)
    /// Print the version and stop.
    case version
}
