// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushCore
internal import PushDBus

/// The command `posthorn inbox remind`: puts a notification off until later.
enum RemindCommand {
    static let node = CommandNode(
        Command(
            "remind", "Close a notification and show it again later.",
            discussion: """
                The notification appears again at that time, as the settings of its app say then, and is unread again. \
                A reminder survives restarts; one that became due while the machine was off appears at the next start.
                """,
            usages: ["ENTRY TIME", "ENTRY --cancel"],
            arguments: [
                Argument("ENTRY", "The entry number from 'posthorn inbox list'."),
                Argument(
                    "TIME", "A duration such as 2h, evening (18:00), tomorrow (07:00), HH:MM, or YYYY-MM-DD HH:MM.",
                    optional: true, repeatable: true),
            ],
            options: [Option("cancel", "Cancel the reminder.")],
            examples: [
                Explanation("posthorn inbox remind 12 1h", "Show notification 12 again in an hour."),
                Explanation("posthorn inbox remind 12 tomorrow", "Show it again the next time it is 07:00."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let number = try InboxCommands.entry(invocation)
        let time = try time(invocation, now: LocalTime.now)
        let agent = try context.agent()
        do throws(CommandError) {
            try agent.call(call(number, time))
        } catch {
            throw advised(error)
        }
        return report(of: number, time)
    }

    /// Returns the time of the reminder; nil to cancel it.
    static func time(_ invocation: Invocation, now: Timestamp) throws(CommandError) -> Timestamp? {
        let text = invocation.arguments.dropFirst().joined(separator: " ")
        if invocation.has("cancel") {
            guard text.isEmpty else {
                throw .usage(invocation.error(.contradiction("--cancel cannot be combined with a time")))
            }
            return nil
        }
        guard !text.isEmpty else { throw .usage(invocation.error(.missingArgument(placeholder: "TIME"))) }
        guard let time = LocalTime.later(text, after: now) else {
            throw .usage(invocation.error(.badValue(of: "TIME", value: text, expected: LocalTime.laterExpectation)))
        }
        return time
    }

    /// Builds the call of `inbox remind`.
    static func call(_ number: Int64, _ time: Timestamp?) -> AgentCall {
        AgentCall(.remindEntry, .int64(number), .int64(time?.unixSeconds ?? 0))
    }

    private static func advised(_ error: CommandError) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        return switch AgentErrorCode(busName: name) {
        case .badValue: .advised(error, remedy: "See 'posthorn inbox remind --help' for the times.")
        case .tooMany: .advised(error, remedy: "Cancel one: posthorn inbox remind ENTRY --cancel")
        default: error
        }
    }

    /// Formats the output of `inbox remind`.
    static func report(of number: Int64, _ time: Timestamp?) -> Report {
        let text =
            time.map { "Notification \(number) is shown again at \(LocalTime.text($0))." }
            ?? "Notification \(number) has no reminder."
        return Report(text, json: ["entry": number, "remind_at": time?.unixSeconds ?? 0])
    }
}
