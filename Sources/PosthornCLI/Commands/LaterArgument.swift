// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The argument TIME of `inbox remind` and `settings mute`.
enum LaterArgument {
    /// The accepted forms, for help.
    static let help = "A duration such as 2h, evening (18:00), tomorrow (07:00), HH:MM, or YYYY-MM-DD HH:MM"

    /// Parses a time in the future.
    ///
    /// - Parameters:
    ///   - text: The words of the argument, joined with spaces.
    ///   - invocation: The command line, for errors.
    ///   - now: The current time.
    ///   - others: The other words that the command accepts.
    /// - Returns: The time.
    /// - Throws: A usage error when the text has another form or is a time in the past.
    static func time(
        _ text: String, of invocation: Invocation, after now: Timestamp, others: [String] = []
    ) throws(CommandError) -> Timestamp {
        guard let time = LocalTime.later(text, after: now) else { throw wrongForm(text, invocation, others) }
        guard time > now else { throw error(text, invocation, "the time is in the past") }
        return time
    }

    /// Returns the error for a value that does not fit.
    static func error(_ text: String, _ invocation: Invocation, _ expected: String) -> CommandError {
        .usage(invocation.error(.badValue(of: "TIME", value: text, expected: expected)))
    }

    private static func wrongForm(_ text: String, _ invocation: Invocation, _ others: [String]) -> CommandError {
        guard !TimeSpan.isDuration(text) else { return error(text, invocation, TimeSpan.expectation(insteadOf: text)) }
        let forms = (others + ["evening", "tomorrow", "a duration such as 2h", "a time such as 18:30"])
            .joined(separator: ", ")
        let error = error(text, invocation, "use \(forms), or a date and time such as 2026-11-27 18:30")
        let parts = LaterChoice.allCases.map(\.rawValue).filter { !TimeSpan.isDuration($0) }
        return Spelling.closest(to: text, among: parts).map { .advised(error, remedy: "Did you mean '\($0)'?") }
            ?? error
    }
}
