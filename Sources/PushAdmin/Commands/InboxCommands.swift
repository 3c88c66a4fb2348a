// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn inbox`: notifications that came to this device.
package enum InboxCommands {
    /// How many entries `inbox list` shows by itself.
    private static let shownCountDefault: Int64 = 20

    static let group = CommandNode(
        group: "inbox", "List, search, read and clear the notifications that came to this device.",
        discussion: """
            Everything that came is here, with what was done with it and why: also what was not shown. It is kept for as \
            long as the settings inbox-days and inbox-count say.
            """,
        environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer,
        children: [list, search, show, read, clear], defaultChild: "list")

    private static let pageOptions: [Option] = [
        Option("app", short: "a", value: "APP", "Only those of this app id."),
        Option("unread", short: "u", "Only those that nobody has seen."),
        Option("before", value: "ENTRY", "Only those that came before this one: the next page."),
        Option("limit", short: "n", value: "COUNT", "At most this many; \(shownCountDefault) if left out."),
    ]

    private static let list = CommandNode(
        Command("list", "List notifications, newest first.", options: OptionTable(pageOptions))
    ) { (invocation, surroundings) throws(CommandError) in
        try answer(to: invocation, surroundings)
    }

    private static let search = CommandNode(
        Command(
            "search", "Find notifications by words of their texts or by the app's name.",
            arguments: [Argument("WORD", "All words must be there, in any case.", repeatable: true)],
            options: OptionTable(pageOptions),
            examples: [Explanation("posthorn inbox search lunch anna", "Finds 'Anna: Lunch at noon?'.")])
    ) { (invocation, surroundings) throws(CommandError) in
        try answer(to: invocation, surroundings)
    }

    private static func answer(
        to invocation: Invocation, _ surroundings: Surroundings
    ) throws(CommandError) -> Report {
        let call = try searchCall(invocation)
        let agent = try surroundings.agent()
        try SettingsCommands.checkApp(invocation.value("app") ?? "", agent)
        let entries = try agent.call(call)
        return report(of: try AgentAnswer.list(entries, of: "SearchInbox", as: InboxEntry.init))
    }

    private static let show = CommandNode(
        Command(
            "show", "Show a notification with its payload; it counts as read then.",
            arguments: [Argument("ENTRY", "The number in the first column of 'inbox list'.")])
    ) { (invocation, surroundings) throws(CommandError) in
        let agent = try surroundings.agent()
        let call = try showCall(invocation)
        let facts = try AgentAnswer.dictionary(try agent.call(call), of: call.method)
        try agent.call(AgentCall("MarkRead", call.arguments[0], .string("")))
        return report(of: InboxEntry(facts))
    }

    private static let read = CommandNode(
        Command(
            "read", "Mark notifications as read.",
            arguments: [Argument("WHICH", "An entry's number, or an app id; all if left out.", optional: true)])
    ) { (invocation, surroundings) throws(CommandError) in
        let agent = try surroundings.agent()
        try Which(invocation).check(agent)
        let answer = try agent.call(readCall(invocation))
        let count = try AgentAnswer.integer(answer, of: "MarkRead")
        let noun = count == 1 ? "notification" : "notifications"
        return Report("Marked \(count) \(noun) as read.", json: ["count": count])
    }

    private static let clear = CommandNode(
        Command(
            "clear", "Remove notifications, and take their alerts off the screen.",
            arguments: [Argument("WHICH", "An entry's number, or an app id; all if left out.", optional: true)],
            options: [SharedOptions.yes])
    ) { (invocation, surroundings) throws(CommandError) in
        let agent = try surroundings.agent()
        try Which(invocation).check(agent)
        let whose =
            switch Which(invocation) {
            case .entry(let number): "notification \(number)"
            case .app(let app): app.isEmpty ? "all notifications" : "the notifications of \(app)"
            }
        try Console.confirm("Remove \(whose)?", unless: invocation.has("yes"))
        let call = clearCall(invocation)
        let answer = try agent.call(call)
        let count = call.method == "ClearInbox" ? try AgentAnswer.integer(answer, of: call.method) : 1
        return Report("Removed \(count) \(count == 1 ? "notification" : "notifications").", json: ["count": count])
    }

    /// Which notifications a person means; an app id has a letter.
    private enum Which {
        case entry(Int64)
        case app(String)

        init(_ invocation: Invocation) {
            let word = invocation.argument(0) ?? ""
            self = Int64(word).map { .entry($0) } ?? .app(word)
        }

        /// Refuses an app of which there is nothing.
        func check(_ agent: AgentClient) throws(CommandError) {
            if case .app(let app) = self { try SettingsCommands.checkApp(app, agent) }
        }
    }

    /// What `inbox list` and `inbox search` ask of the agent.
    ///
    /// - Parameter invocation: With words or without.
    /// - Returns: The call.
    /// - Throws: When a number makes no sense.
    package static func searchCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        do throws(UsageError) {
            let limit = try invocation.integer("limit", in: 1...Int64(UInt32.max)) ?? shownCountDefault
            let before = try invocation.integer("before", in: 1...Int64.max) ?? 0
            return AgentCall(
                "SearchInbox", .string(invocation.arguments.joined(separator: " ")),
                .string(invocation.value("app") ?? ""), .string(invocation.has("unread") ? "unread" : ""),
                .int64(before), .uint32(UInt32(limit)))
        } catch {
            throw .usage(error)
        }
    }

    /// What `inbox read` asks of the agent.
    package static func readCall(_ invocation: Invocation) -> AgentCall {
        switch Which(invocation) {
        case .entry(let number): AgentCall("MarkRead", .int64(number), .string(""))
        case .app(let app): AgentCall("MarkRead", .int64(0), .string(app))
        }
    }

    /// What `inbox clear` asks of the agent.
    package static func clearCall(_ invocation: Invocation) -> AgentCall {
        switch Which(invocation) {
        case .entry(let number): AgentCall("RemoveInboxEntry", .int64(number))
        case .app(let app): AgentCall("ClearInbox", .string(app))
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
                    "\(entry.entry)", LocalTime.text(unixSeconds: entry.receivedUnixMilliseconds / 1000),
                    entry.appTitle, state(of: entry), entry.summary,
                ]
            })
        return Report(table.text, json: Inbox(entries: entries))
    }

    /// How far it got and why, and whether nobody has seen it, which no long reason may hide.
    private static func state(of entry: InboxEntry) -> String {
        let remark = entry.read ? "" : ", new"
        return DisplayWidth.cut(oneLine(entry.outcome), columnCount: Table.cellColumnCountMax - remark.utf8.count)
            + remark
    }

    /// What `inbox show` prints.
    package static func report(of entry: InboxEntry) -> Report {
        let channel = entry.channel.isEmpty ? [] : [(name: "Channel", value: entry.channel)]
        var text = Table.fields(
            [
                ("Entry", "\(entry.entry)"), ("ID", entry.id),
                ("App", entry.appName.isEmpty ? entry.appID : "\(entry.appName) (\(entry.appID))"),
                ("Received", LocalTime.text(unixSeconds: entry.receivedUnixMilliseconds / 1000)),
                ("State", entry.outcome), ("Parts", entry.effects.joined(separator: ", ")),
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
