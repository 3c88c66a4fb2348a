// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushCore
internal import PushDBus

/// The command `posthorn inbox`: lists and clears the notifications that this device received.
enum InboxCommands {
    /// The number of entries that `inbox list` shows by default.
    private static let shownCountDefault: Int64 = 20

    static let group = CommandNode(
        group: "inbox", "List, search, read and clear received notifications.",
        discussion: """
            The inbox contains every received notification with its state and the reason for it, including \
            notifications that were not shown. The settings inbox-days and inbox-count limit how long they are kept.
            """,
        environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer,
        children: [list, search, show, read, clear], defaultChild: "list")

    private static let pageOptions: [Option] = [
        Option("app", short: "a", value: "APP", "Only notifications of this app ID."),
        Option("unread", short: "u", "Only unread notifications."),
        Option("before", value: "ENTRY", "Only notifications older than this entry (for the next page)."),
        Option("limit", short: "n", value: "COUNT", "The maximum number of entries. Default: \(shownCountDefault)."),
    ]

    private static let list = CommandNode(
        Command("list", "List notifications, newest first.", options: OptionTable(pageOptions))
    ) { (invocation, context) throws(CommandError) in
        try answer(to: invocation, context)
    }

    private static let search = CommandNode(
        Command(
            "search", "Search notifications by text or app name.",
            arguments: [Argument("WORD", "A word to find, ignoring case; all words must match.", repeatable: true)],
            options: OptionTable(pageOptions),
            examples: [Explanation("posthorn inbox search lunch anna", "Find 'Anna: Lunch at noon?'.")])
    ) { (invocation, context) throws(CommandError) in
        try answer(to: invocation, context)
    }

    private static func answer(
        to invocation: Invocation, _ context: CommandContext
    ) throws(CommandError) -> Report {
        let call = try searchCall(invocation)
        let agent = try context.agent()
        try SettingsCommands.checkApp(invocation.value("app") ?? "", agent)
        let entries = try agent.call(call)
        return report(of: try AgentAnswer.list(entries, of: .searchInbox, as: InboxRecord.self))
    }

    private static let show = CommandNode(
        Command(
            "show", "Show a notification with its payload and mark it as read.",
            arguments: [Argument("ENTRY", "The entry number from 'posthorn inbox list'.")])
    ) { (invocation, context) throws(CommandError) in
        let agent = try context.agent()
        let call = try showCall(invocation)
        let facts = try AgentAnswer.dictionary(try agent.call(call), of: call.method)
        try agent.call(AgentCall(.markRead, call.arguments[0], .string("")))
        return report(of: InboxRecord(facts))
    }

    private static let read = CommandNode(
        Command(
            "read", "Mark notifications as read.",
            arguments: [Argument("ENTRY|APP", "An entry number or an app ID. Default: all.", optional: true)])
    ) { (invocation, context) throws(CommandError) in
        let agent = try context.agent()
        try Which(invocation).check(agent)
        let answer = try agent.call(readCall(invocation))
        let count = try AgentAnswer.integer(answer, of: .markRead)
        let noun = count == 1 ? "notification" : "notifications"
        return Report("Marked \(count) \(noun) as read.", json: ["count": count])
    }

    private static let clear = CommandNode(
        Command(
            "clear", "Remove notifications and close their alerts.",
            arguments: [Argument("ENTRY|APP", "An entry number or an app ID. Default: all.", optional: true)],
            options: [SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let agent = try context.agent()
        try Which(invocation).check(agent)
        let whose =
            switch Which(invocation) {
            case .entry(let number): "notification \(number)"
            case .app(let app): app.isEmpty ? "all notifications" : "the notifications of \(app)"
            }
        try Console.confirm("Remove \(whose)?", unless: invocation.has("yes"))
        let call = clearCall(invocation)
        let answer = try agent.call(call)
        let count = call.method == .clearInbox ? try AgentAnswer.integer(answer, of: call.method) : 1
        return Report("Removed \(count) \(count == 1 ? "notification" : "notifications").", json: ["count": count])
    }

    /// The notifications that a command affects: one entry or all of an app; an app ID always contains a letter.
    private enum Which {
        case entry(Int64)
        case app(String)

        init(_ invocation: Invocation) {
            let word = invocation.argument(0) ?? ""
            self = Int64(word).map { .entry($0) } ?? .app(word)
        }

        /// Throws an error for an app without a registration and without notifications.
        func check(_ agent: AgentClient) throws(CommandError) {
            if case .app(let app) = self { try SettingsCommands.checkApp(app, agent) }
        }
    }

    /// Builds the call of `inbox list` and `inbox search`.
    ///
    /// - Parameter invocation: The command line, with or without search words.
    /// - Returns: The call.
    /// - Throws: An error when a number is invalid.
    static func searchCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        do throws(UsageError) {
            let limit = try invocation.integer("limit", in: 1...Int64(UInt32.max)) ?? shownCountDefault
            let before = try invocation.integer("before", in: 1...Int64.max) ?? 0
            return AgentCall(
                .searchInbox, .string(invocation.arguments.joined(separator: " ")),
                .string(invocation.value("app") ?? ""), .string(invocation.has("unread") ? "unread" : ""),
                .int64(before), .uint32(UInt32(limit)))
        } catch {
            throw .usage(error)
        }
    }

    /// Builds the call of `inbox read`.
    static func readCall(_ invocation: Invocation) -> AgentCall {
        switch Which(invocation) {
        case .entry(let number): AgentCall(.markRead, .int64(number), .string(""))
        case .app(let app): AgentCall(.markRead, .int64(0), .string(app))
        }
    }

    /// Builds the call of `inbox clear`.
    static func clearCall(_ invocation: Invocation) -> AgentCall {
        switch Which(invocation) {
        case .entry(let number): AgentCall(.removeInboxEntry, .int64(number))
        case .app(let app): AgentCall(.clearInbox, .string(app))
        }
    }

    /// Builds the call of `inbox show`.
    ///
    /// - Parameter invocation: The command line, with the entry's number.
    /// - Returns: The call.
    /// - Throws: An error when the argument is not a number.
    static func showCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        let word = invocation.arguments[0]
        guard let entry = Int64(word) else {
            throw .usage(invocation.error(.badValue(of: "ENTRY", value: word, expected: "use a whole number")))
        }
        return AgentCall(.getInboxEntry, .int64(entry))
    }

    /// Formats the output of `inbox list`.
    static func report(of entries: [InboxRecord]) -> Report {
        guard !entries.isEmpty else { return Report("No notifications.", json: Inbox(entries: entries)) }
        let table = Table(
            [.number("ENTRY"), .text("RECEIVED"), .text("APP"), .text("STATE"), .text("NOTIFICATION")],
            rows: entries.map { entry in
                [
                    "\(entry.entry)", LocalTime.text(entry.receivedAt),
                    entry.appTitle, state(of: entry), entry.summary,
                ]
            })
        return Report(table.text, json: Inbox(entries: entries))
    }

    /// Returns the delivery state, its reason and the mark `new`; a long reason is truncated so that the mark fits.
    private static func state(of entry: InboxRecord) -> String {
        let remark = entry.isRead ? "" : ", new"
        return DisplayWidth.cut(oneLine(entry.outcome), columnCount: Table.cellColumnCountMax - remark.utf8.count)
            + remark
    }

    /// Formats the output of `inbox show`.
    static func report(of entry: InboxRecord) -> Report {
        let channel = entry.channel.isEmpty ? [] : [(name: "Channel", value: entry.channel)]
        var text = Table.fields(
            [
                ("Entry", "\(entry.entry)"), ("ID", entry.uniqueID),
                ("App", entry.appName.isEmpty ? entry.appID : "\(entry.appName) (\(entry.appID))"),
                ("Received", LocalTime.text(entry.receivedAt)),
                ("State", entry.outcome), ("Parts", entry.effects.joined(separator: ", ")),
            ] + channel + [("Title", entry.title), ("Payload", entry.payload)])
        if !entry.body.isEmpty {
            // The body is indented, so that none of its lines looks like output of this program.
            let lines = entry.body.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            text += "\n\n" + lines.map { "  \(oneLine(String(Substring($0))))" }.joined(separator: "\n")
        }
        return Report(text, json: entry)
    }
}

/// The JSON of `inbox list`.
private struct Inbox: Encodable, Sendable {
    let entries: [InboxRecord]
}
