// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushCore
internal import PushDBus

/// The command `posthorn inbox`: lists and clears the notifications that this device received.
enum InboxCommands {
    /// The number of entries that `inbox list` shows by default.
    private static let shownCountDefault: Int64 = 20

    /// The maximum length of a text in a list on a terminal, in terminal columns.
    private static let summaryColumnCountMax = 96

    static let group = CommandNode(
        group: "inbox", "List, search, read and clear received notifications.",
        discussion: """
            The inbox contains every received notification with its state and the reason for it, including \
            notifications that were not shown. The settings inbox-days and inbox-count limit how long they are kept.
            """,
        environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer,
        children: [list, search, show, open, read, RemindCommand.node, clear], defaultChild: "list")

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
        let (limit, before) = (try limit(invocation), try before(invocation))
        let agent = try context.agent()
        try SettingsCommands.checkApp(invocation.value("app") ?? "", agent)
        return report(
            of: try entries(upTo: limit, before: before) { (count, before) throws(CommandError) in
                let call = searchCall(invocation, count: count, before: before)
                return try AgentAnswer.list(try agent.call(call), of: .searchInbox, as: InboxRecord.self)
            })
    }

    /// Collects pages of entries, because the agent returns at most 1000 entries in one answer.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of entries.
    ///   - before: The entry that the first page begins after; 0 for the newest page.
    ///   - page: Returns at most a number of entries that are older than an entry.
    /// - Returns: The entries, newest first.
    /// - Throws: The error of a page.
    static func entries(
        upTo limit: Int64, before: Int64,
        page: (_ count: UInt32, _ before: Int64) throws(CommandError) -> [InboxRecord]
    ) throws(CommandError) -> [InboxRecord] {
        var (entries, before): ([InboxRecord], Int64) = ([], before)
        while Int64(entries.count) < limit {
            let more = try page(UInt32(clamping: limit - Int64(entries.count)), before)
            guard let last = more.last else { break }
            entries += more
            before = last.entry
        }
        return entries
    }

    private static let show = CommandNode(
        Command(
            "show", "Show a notification with its payload and mark it as read.",
            arguments: [Argument("ENTRY", "The entry number from 'posthorn inbox list'.")])
    ) { (invocation, context) throws(CommandError) in
        let call = AgentCall(.getInboxEntry, .int64(try entry(invocation)))
        let agent = try context.agent()
        let facts = try AgentAnswer.dictionary(try agent.call(call), of: call.method)
        try agent.call(AgentCall(.markRead, call.arguments[0], .string("")))
        return report(of: InboxRecord(facts))
    }

    private static let open = CommandNode(
        Command(
            "open", "Open a notification in its app, or open its link, and mark it as read.",
            arguments: [Argument("ENTRY", "The entry number from 'posthorn inbox list'.")])
    ) { (invocation, context) throws(CommandError) in
        let number = try entry(invocation)
        try context.agent().call(AgentCall(.openEntry, .int64(number), .string("")))
        return Report("Opened notification \(number).", json: ["entry": number])
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
            "clear", "Clear notifications and close their alerts.",
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
        try Console.confirm("Clear \(whose)?", unless: invocation.has("yes"))
        let call = clearCall(invocation)
        let answer = try agent.call(call)
        let count = call.method == .clearInbox ? try AgentAnswer.integer(answer, of: call.method) : 1
        return Report("Cleared \(count) \(count == 1 ? "notification" : "notifications").", json: ["count": count])
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

    /// Builds a call of `inbox list` and `inbox search` for one page.
    static func searchCall(_ invocation: Invocation, count: UInt32, before: Int64) -> AgentCall {
        AgentCall(
            .searchInbox, .string(invocation.arguments.joined(separator: " ")),
            .string(invocation.value("app") ?? ""), .string(invocation.has("unread") ? "unread" : ""),
            .int64(before), .uint32(count))
    }

    /// Returns the value of `--limit`.
    static func limit(_ invocation: Invocation) throws(CommandError) -> Int64 {
        do throws(UsageError) {
            return try invocation.integer("limit", in: 1...Int64(UInt32.max)) ?? shownCountDefault
        } catch {
            throw .usage(error)
        }
    }

    /// Returns the value of `--before`; 0 if it is missing.
    static func before(_ invocation: Invocation) throws(CommandError) -> Int64 {
        guard let word = invocation.value("before") else { return 0 }
        return try entry(word, of: "--before", invocation)
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

    /// Returns the entry's number that `inbox show` and `inbox open` take.
    static func entry(_ invocation: Invocation) throws(CommandError) -> Int64 {
        try entry(invocation.arguments[0], of: "ENTRY", invocation)
    }

    private static func entry(
        _ word: String, of name: String, _ invocation: Invocation
    ) throws(CommandError) -> Int64 {
        guard let entry = Int64(word), entry > 0 else {
            let expected = "use a number from 'posthorn inbox list'"
            throw .usage(invocation.error(.badValue(of: name, value: word, expected: expected)))
        }
        return entry
    }

    /// Formats the output of `inbox list`; on a terminal, long texts are cut and wrapped.
    static func report(of entries: [InboxRecord], onTerminal: Bool = Terminal.isUsed) -> Report {
        guard !entries.isEmpty else { return Report("No notifications.", json: Inbox(entries: entries)) }
        let hasReminders = entries.contains { $0.remindAt != nil }
        let table = Table(
            [.number("ENTRY"), .text("RECEIVED"), .name("APP"), .text("STATE")]
                + (hasReminders ? [.text("REMINDER")] : []) + [
                    onTerminal ? .sentence("NOTIFICATION") : .text("NOTIFICATION")
                ],
            rows: entries.map { entry in
                let reminder = entry.remindAt.map { LocalTime.shortText($0) } ?? ""
                let summary = oneLine(entry.summary)
                return ["\(entry.entry)", LocalTime.shortText(entry.receivedAt), entry.shownAppTitle, state(of: entry)]
                    + (hasReminders ? [reminder] : [])
                    + [onTerminal ? DisplayWidth.cut(summary, columnCount: summaryColumnCountMax) : summary]
            })
        let offers = entries.filter { !$0.offer.isEmpty }.map(offerLine)
        return Report(([table.text] + offers).joined(separator: "\n\n"), json: Inbox(entries: entries))
    }

    /// Returns the command that allows the notifications of which this entry was the first to be held back.
    private static func offerLine(_ entry: InboxRecord) -> String {
        let app = oneLine(entry.appID)
        return """
            Do Not Disturb held back a time-sensitive notification of \(oneLine(entry.appTitle)). To allow such
            notifications:
              posthorn settings set \(app) \(oneLine(entry.offer)) on
            """
    }

    /// Returns the delivery state, its reason and the mark `new`; a long reason is truncated so that the mark fits.
    private static func state(of entry: InboxRecord) -> String {
        let remark = entry.isRead ? "" : ", new"
        return DisplayWidth.cut(oneLine(entry.outcome), columnCount: Table.cellColumnCountMax - remark.utf8.count)
            + remark
    }

    /// Formats the output of `inbox show`.
    static func report(of entry: InboxRecord) -> Report {
        let reminder = entry.remindAt.map(LocalTime.text) ?? ""
        let optional = [
            ("Reminder", reminder), ("Channel", entry.channel), ("Opens", entry.url), ("Picture", entry.picture),
        ].filter { !$0.1.isEmpty }
        let ignored = entry.ignored.map { ("Ignored", $0) }
        var text = Table.fields(
            [
                ("Entry", "\(entry.entry)"), ("ID", entry.uniqueID),
                ("App", entry.appName.isEmpty ? entry.appID : "\(entry.shownAppTitle) (\(entry.appID))"),
                ("Received", LocalTime.text(entry.receivedAt)),
                ("State", entry.explainedOutcome), ("Parts", entry.effects.joined(separator: ", ")),
            ] + optional + ignored + [("Title", entry.title), ("Payload", entry.payload)])
        if !entry.body.isEmpty {
            // The body is indented, so that none of its lines looks like output of this program.
            let lines = entry.body.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            text += "\n\n" + lines.map { "  \(oneLine(String(Substring($0))))" }.joined(separator: "\n")
        }
        if !entry.offer.isEmpty { text += "\n\n" + offerLine(entry) }
        return Report(text, json: entry)
    }
}

/// The JSON of `inbox list`.
private struct Inbox: Encodable, Sendable {
    let entries: [InboxRecord]
}
