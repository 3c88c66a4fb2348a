// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushDBus

/// `posthorn watch`: what comes, as it comes.
package enum WatchCommand {
    /// Entries that are caught up with after the agent was away; more are in the inbox.
    private static let caughtUpCountMax: UInt32 = 100

    static let node = CommandNode(
        Command(
            "watch", "Print notifications as they come, until Ctrl-C.",
            discussion: """
                One line for each, also for what is not shown, with the reason why. With --json one object a line, as \
                'posthorn inbox show' prints it. When the agent restarts, this goes on.
                """,
            options: [Option("app", short: "a", value: "APP", "Only those of this app id.")],
            examples: [
                Explanation("posthorn watch", "On a terminal without a desktop."),
                Explanation("posthorn watch --json | jq -r .title", "For a script."),
            ],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, surroundings) throws(CommandError) in
        let (agent, app) = (try surroundings.agent(), invocation.value("app") ?? "")
        try SettingsCommands.checkApp(app, agent)
        try watch(agent, app: app, asJSON: invocation.has("json"))
    }

    private static func watch(_ agent: AgentClient, app: String, asJSON: Bool) throws(CommandError) -> Never {
        let listener = try AgentListener(agent, to: ["NotificationArrived"])
        var last = try newest(1, of: agent).first?.entry ?? 0
        while true {
            let news = try listener.wait()
            if news.isGone { Console.note(["The agent went away; waiting for it."]) }
            do throws(CommandError) {
                let entries = try newest(caughtUpCountMax, of: agent, after: last)
                for entry in entries where app.isEmpty || entry.appID.utf8.elementsEqual(app.utf8) {
                    _ = try Console.write(line(for: entry, asJSON: asJSON) + "\n")
                }
                last = entries.last?.entry ?? last
            } catch {
                // It comes back, or is asked to by the next one who calls it.
                guard case .agentUnreachable = error else { throw error }
            }
        }
    }

    /// The newest entries behind one, oldest first.
    private static func newest(
        _ count: UInt32, of agent: AgentClient, after last: Int64 = 0
    ) throws(CommandError) -> [InboxEntry] {
        let answer = try agent.call(AgentCall("ListInbox", .uint32(count)))
        return try AgentAnswer.list(answer, of: "ListInbox", as: InboxEntry.init).filter { $0.entry > last }.reversed()
    }

    /// What is printed of an entry.
    package static func line(for entry: InboxEntry, asJSON: Bool) -> String {
        if asJSON { return JSONText.printable(JSONText.encodeKnown(entry)) }
        let time = LocalTime.text(unixSeconds: entry.receivedUnixMilliseconds / 1000)
        let outcome = entry.state == "suppressed" ? "(not shown: \(oneLine(entry.reason)))" : ""
        let texts = entry.title.isEmpty && entry.body.isEmpty ? [entry.parts] : [entry.title, entry.body]
        return ([time, "[\(oneLine(entry.appTitle))]"] + texts.map(oneLine) + [outcome])
            .filter { !$0.isEmpty }.joined(separator: "  ")
    }
}
