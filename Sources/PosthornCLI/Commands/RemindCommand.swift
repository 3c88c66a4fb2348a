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
                At that time the notification is unread again, and it appears if the settings of its app allow it then. \
                Reminders are kept over restarts. One that was due while the device was off appears at the next start.
                """,
            usages: ["ENTRY TIME", "ENTRY --cancel"],
            arguments: [
                Argument("ENTRY", "The entry number from 'posthorn inbox list'."),
                Argument(
                    "TIME", "\(LaterArgument.help).", optional: true, repeatable: true),
            ],
            options: [Option("cancel", "Cancel the reminder.")],
            examples: [
                Explanation("posthorn inbox remind 12 1h", "Show notification 12 again in an hour."),
                Explanation("posthorn inbox remind 12 tomorrow", "Show it again at 07:00, today or tomorrow."),
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
        let time = try LaterArgument.time(text, of: invocation, after: now)
        guard time <= now.advanced(bySeconds: Limits.reminderDaysMax * 86_400) else {
            throw LaterArgument.error(text, invocation, "use a time within the next \(Limits.reminderDaysMax) days")
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
        // The command has checked the time.
        case .badValue: .advised(error, remedy: "Choose a notification with a title or a text.")
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
