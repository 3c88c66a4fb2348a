// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn channel`: the channels to which back-ends broadcast.
package enum ChannelCommands {
    static let group = CommandNode(
        group: "channel", "Create, list, show and remove broadcast channels of an app.",
        discussion: """
            A broadcast is sent once, to a channel, and reaches every device whose app subscribed to it. The app must \
            allow broadcasts: posthorn app set TOPIC --broadcasts on
            """,
        children: [create, list, show, remove])

    private static let topic = Argument("TOPIC", "The app's topic, for example org.example.News.")
    private static let id = Argument("ID", "The channel id, as 'posthorn channel list' shows it.")

    private static func environment(_ help: String) -> Option {
        Option(
            "environment", short: "e", value: "NAME", help, values: .choice(Environment.allCases.map(\.rawValue)))
    }

    /// What a channel may keep, by the words of the command line.
    private static func word(_ policy: MessageStoragePolicy) -> String {
        switch policy {
        case .noMessageStored: "none"
        case .mostRecentMessageStored: "last"
        }
    }

    private static let create = CommandNode(
        Command(
            "create", "Create a channel and show its id.",
            discussion: """
                What a channel keeps cannot be changed later. One that keeps the last broadcast gives it to devices \
                that connect within eight hours; one that keeps nothing is for those who are connected.
                """,
            arguments: [topic],
            options: [
                environment("production or development; production if left out."),
                Option(
                    "policy", value: "WHAT", "What it keeps: last (the last broadcast) or none; last if left out.",
                    values: .choice(MessageStoragePolicy.allCases.map(word))),
            ],
            examples: [
                Explanation("posthorn channel create org.example.News", "A channel that keeps the last broadcast.")
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let client = surroundings.admin(invocation)
        let request = createRequest(invocation)
        return report(of: try client.send(request, for: AdminAPI.Channel.self, about: [invocation.arguments[0]]))
    }

    private static let list = CommandNode(
        Command(
            "list", "List the channels of an app.", arguments: [topic],
            options: [environment("Only those of production or development.")])
    ) { (invocation, surroundings) throws(CommandError) in
        let topic = invocation.arguments[0]
        let request = AdminRequest.get("apps", topic, "channels").of(environment: invocation.value("environment"))
        let client = surroundings.admin(invocation)
        return report(of: try client.send(request, for: AdminAPI.Channels.self, about: [topic]), topic: topic)
    }

    private static let show = CommandNode(Command("show", "Show a channel.", arguments: [topic, id])) {
        (invocation, surroundings) throws(CommandError) in
        let topic = invocation.arguments[0]
        let request = AdminRequest.get("apps", topic, "channels", invocation.arguments[1])
        return report(
            of: try surroundings.admin(invocation).send(request, for: AdminAPI.Channel.self, about: [topic]))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove a channel with its subscriptions.",
            discussion: "Its id is never used again: broadcasts to it are refused from now on.",
            arguments: [topic, id], options: [SharedOptions.yes])
    ) { (invocation, surroundings) throws(CommandError) in
        let (topic, id) = (invocation.arguments[0], invocation.arguments[1])
        try Console.confirm("Remove channel \(id) with its subscriptions?", unless: invocation.has("yes"))
        try surroundings.admin(invocation).send(.delete("apps", topic, "channels", id), about: [topic])
        return Report("Removed \(id).", json: Done())
    }

    /// What `channel create` asks of the server.
    package static func createRequest(_ invocation: Invocation) -> AdminRequest {
        let policy = invocation.value("policy").flatMap { text in
            MessageStoragePolicy.allCases.first { word($0) == text }
        }
        let channel = AdminAPI.NewChannel(
            environment: invocation.value("environment").flatMap(Environment.init), messageStoragePolicy: policy)
        return .post(["apps", invocation.arguments[0], "channels"], channel)
    }

    /// What `channel create` and `channel show` print.
    package static func report(of channel: AdminAPI.Channel) -> Report {
        Report(
            Table.fields([
                ("Channel ID", channel.channelID), ("Topic", channel.topic),
                ("Environment", channel.environment.rawValue), ("Keeps", word(channel.messageStoragePolicy)),
                ("Subscriptions", "\(channel.subscriptionCount)"),
                ("Created", LocalTime.text(unixSeconds: channel.createdAt)),
            ]), json: channel)
    }

    /// What `channel list` prints.
    package static func report(of channels: AdminAPI.Channels, topic: String) -> Report {
        guard !channels.channels.isEmpty else {
            return Report("No channels yet. Create one: posthorn channel create \(oneLine(topic))", json: channels)
        }
        let table = Table(
            [
                .text("CHANNEL ID"), .text("ENVIRONMENT"), .text("KEEPS"), .number("SUBSCRIPTIONS"), .text("CREATED"),
            ],
            rows: channels.channels.map { channel in
                [
                    channel.channelID, channel.environment.rawValue, word(channel.messageStoragePolicy),
                    "\(channel.subscriptionCount)", LocalTime.text(unixSeconds: channel.createdAt),
                ]
            })
        return Report(table.text, json: channels)
    }
}
