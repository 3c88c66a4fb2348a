// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushDBus

/// The command `posthorn watch`: prints notifications as they arrive.
enum WatchCommand {
    /// The maximum number of missed entries that are printed after the agent restarts; the inbox has the others.
    private static let caughtUpCountMax: UInt32 = 100

    static let node = CommandNode(
        Command(
            "watch", "Print notifications as they arrive, until interrupted.",
            discussion: """
                Prints one line for each notification, including those that are not shown, with the reason. With --json, \
                each line is a JSON object as printed by 'posthorn inbox show'. The command keeps running when the \
                agent restarts.
                """,
            options: [Option("app", short: "a", value: "APP", "Only notifications of this app ID.")],
            examples: [
                Explanation("posthorn watch", "Print notifications on a terminal."),
                Explanation("posthorn watch --json | jq -r .title", "Print titles, for a script."),
            ],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, context) throws(CommandError) in
        let (agent, app) = (try context.agent(), invocation.value("app") ?? "")
        try SettingsCommands.checkApp(app, agent)
        try watch(agent, app: app, asJSON: invocation.has("json"))
    }

    private static func watch(_ agent: AgentClient, app: String, asJSON: Bool) throws(CommandError) -> Never {
        let listener = try AgentListener(agent, to: [.notificationArrived])
        var last = try newest(1, of: agent).first?.entry ?? 0
        while true {
            let news = try listener.wait()
            if news.isGone { Console.note(["Lost the connection to posthorn-agent; waiting for it."]) }
            do throws(CommandError) {
                let entries = try newest(caughtUpCountMax, of: agent, after: last)
                for entry in entries where app.isEmpty || entry.appID.utf8.elementsEqual(app.utf8) {
                    _ = try Console.write(line(for: entry, asJSON: asJSON) + "\n")
                }
                last = entries.last?.entry ?? last
            } catch {
                // The agent restarts, or the bus starts it when another client calls it.
                guard case .agentUnreachable = error else { throw error }
            }
        }
    }

    /// Returns the newest entries after a given one, oldest first.
    private static func newest(
        _ count: UInt32, of agent: AgentClient, after last: Int64 = 0
    ) throws(CommandError) -> [InboxRecord] {
        let answer = try agent.call(AgentCall(.listInbox, .uint32(count)))
        return try AgentAnswer.list(answer, of: .listInbox, as: InboxRecord.self).filter { $0.entry > last }.reversed()
    }

    /// Formats an entry as text or as one line of JSON.
    static func line(for entry: InboxRecord, asJSON: Bool) -> String {
        if asJSON { return JSONText.printable(JSONText.encodeKnown(entry)) }
        let time = LocalTime.text(entry.receivedAt)
        let outcome = entry.state == "suppressed" ? "(not shown: \(oneLine(entry.reason)))" : ""
        let texts = entry.title.isEmpty && entry.body.isEmpty ? [entry.parts] : [entry.title, entry.body]
        return ([time, "[\(oneLine(entry.appTitle))]"] + texts.map(oneLine) + [outcome])
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }
}
