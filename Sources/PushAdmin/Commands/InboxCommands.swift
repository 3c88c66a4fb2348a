// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn inbox`: notifications that came to this device.
package enum InboxCommands {
    /// How many entries `inbox list` shows by itself.
    private static let shownCountDefault: Int64 = 20

    static let group = CommandNode(
        group: "inbox", "List, show and clear the notifications that came to this device.",
        environment: AgentCommands.sessionBus, children: [list, show, clear])

    private static let list = CommandNode(
        Command(
            "list", "List notifications, newest first.",
            options: [
                Option("limit", short: "n", value: "COUNT", "At most this many; \(shownCountDefault) if left out.")
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let entries = try surroundings.agent().call(try listCall(invocation))
        return report(of: try AgentAnswer.list(entries, of: "ListInbox", as: InboxEntry.init))
    }

    private static let show = CommandNode(
        Command(
            "show", "Show a notification with its payload.",
            arguments: [Argument("ENTRY", "The number in the first column of 'inbox list'.")])
    ) { (invocation, surroundings) throws(CommandError) in
        let facts = try surroundings.agent().call(try showCall(invocation))
        return report(of: InboxEntry(try AgentAnswer.dictionary(facts, of: "GetInboxEntry")))
    }

    private static let clear = CommandNode(
        Command(
            "clear", "Remove notifications, and take their alerts off the screen.",
            arguments: [Argument("APP", "Only those of this app id; all if left out.", optional: true)],
            options: [SharedOptions.yes])
    ) { (invocation, surroundings) throws(CommandError) in
        let agent = try surroundings.agent()
        let app = invocation.argument(0) ?? ""
        let whose = app.isEmpty ? "all notifications" : "the notifications of \(app)"
        try Console.confirm("Remove \(whose)?", unless: invocation.has("yes"))
        let answer = try agent.call(AgentCall("ClearInbox", .string(app)))
        let count = try AgentAnswer.integer(answer, of: "ClearInbox")
        return Report("Removed \(count) \(count == 1 ? "notification" : "notifications").", json: ["count": count])
    }

    /// What `inbox list` asks of the agent.
    ///
    /// - Parameter invocation: With or without `--limit`.
    /// - Returns: The call.
    /// - Throws: When the limit is no count.
    package static func listCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        do throws(UsageError) {
            let limit = try invocation.integer("limit", in: 1...Int64(UInt32.max)) ?? shownCountDefault
            return AgentCall("ListInbox", .uint32(UInt32(limit)))
        } catch {
            throw .usage(error)
        }
    }

    /// What `inbox show` asks of the agent.
    ///
    /// - Parameter invocation: With the entry's number.
    /// - Returns: The call.
    /// - Throws: When the word is no number.
    package static func showCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        let word = invocation.arguments[0]
        guard let entry = Int64(word) else {
            throw .usage(invocation.error(.badValue(of: "ENTRY", value: word, expected: "a whole number")))
        }
        return AgentCall("GetInboxEntry", .int64(entry))
    }

    /// What `inbox list` prints.
    package static func report(of entries: [InboxEntry]) -> Report {
        guard !entries.isEmpty else { return Report("No notifications.", json: Inbox(entries: entries)) }
        let table = Table(
            [.number("ENTRY"), .text("RECEIVED"), .text("APP"), .text("STATE"), .text("NOTIFICATION")],
            rows: entries.map { entry in
                [
                    "\(entry.entry)", LocalTime.text(unixSeconds: entry.receivedAt / 1000),
                    entry.appName.isEmpty ? entry.appID : entry.appName, entry.state,
                    [entry.title, entry.body].filter { !$0.isEmpty }.joined(separator: ": "),
                ]
            })
        return Report(table.text, json: Inbox(entries: entries))
    }

    /// What `inbox show` prints.
    package static func report(of entry: InboxEntry) -> Report {
        let channel = entry.channel.isEmpty ? [] : [(name: "Channel", value: entry.channel)]
        var text = Table.fields(
            [
                ("Entry", "\(entry.entry)"), ("ID", entry.id),
                ("App", entry.appName.isEmpty ? entry.appID : "\(entry.appName) (\(entry.appID))"),
                ("Received", LocalTime.text(unixSeconds: entry.receivedAt / 1000)),
                ("State", entry.reason.isEmpty ? entry.state : "\(entry.state): \(entry.reason)"),
            ] + channel + [("Title", entry.title), ("Payload", entry.payload)])
        if !entry.body.isEmpty {
            // Indented, so that no line of it looks like one of ours.
            let lines = entry.body.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            text += "\n\n" + lines.map { "  \(oneLine(String(Substring($0))))" }.joined(separator: "\n")
        }
        return Report(text, json: entry)
    }
}

/// The JSON of `inbox list`.
private struct Inbox: Encodable, Sendable {
    let entries: [InboxEntry]
}
