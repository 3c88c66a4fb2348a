// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn channel`: manages broadcast channels.
enum ChannelCommands {
    static let group = CommandNode(
        group: "channel", "Manage the broadcast channels of an app.",
        discussion: """
            A back-end sends a broadcast once, to a channel. The server delivers it to every device whose app \
            subscribed to the channel. Enable broadcasts for the app first: posthorn app set TOPIC --broadcasts on
            """,
        children: [create, list, show, remove])

    private static let topic = Argument("TOPIC", "The app's topic, for example org.example.News.")
    private static let id = Argument("ID", "The channel ID; see 'posthorn channel list'.")

    private static func environment(_ help: String) -> Option {
        Option(
            "environment", short: "e", value: "NAME", help, values: .choice(Environment.allCases.map(\.rawValue)))
    }

    /// Returns the command line's word for a storage policy.
    private static func word(_ policy: MessageStoragePolicy) -> String {
        switch policy {
        case .noMessageStored: "none"
        case .mostRecentMessageStored: "last"
        }
    }

    private static let create = CommandNode(
        Command(
            "create", "Create a channel and print its ID.",
            discussion: """
                The storage policy cannot be changed later. A channel with policy 'last' delivers its last broadcast to \
                devices that connect within eight hours. A channel with policy 'none' reaches connected devices only.
                """,
            arguments: [topic],
            options: [
                environment("production or development. Default: production."),
                Option(
                    "policy", value: "POLICY",
                    "The storage policy: last (store the last broadcast) or none. Default: last.",
                    values: .choice(MessageStoragePolicy.allCases.map(word))),
            ],
            examples: [
                Explanation(
                    "posthorn channel create org.example.News", "Create a channel that stores its last broadcast.")
            ])
    ) { (invocation, context) throws(CommandError) in
        let client = context.admin(invocation)
        let request = createRequest(invocation)
        return report(
            of: try client.send(request, for: AdminAPI.Channel.self, about: [TopicName(invocation.arguments[0])]))
    }

    private static let list = CommandNode(
        Command(
            "list", "List the channels of an app.", arguments: [topic],
            options: [environment("List only channels of production or development.")])
    ) { (invocation, context) throws(CommandError) in
        let topic = TopicName(invocation.arguments[0])
        let request = AdminRequest.get("apps", topic.text, "channels").of(environment: invocation.value("environment"))
        let client = context.admin(invocation)
        return report(of: try client.send(request, for: AdminAPI.Channels.self, about: [topic]), topic: topic)
    }

    private static let show = CommandNode(Command("show", "Show a channel.", arguments: [topic, id])) {
        (invocation, context) throws(CommandError) in
        let topic = TopicName(invocation.arguments[0])
        let request = AdminRequest.get("apps", topic.text, "channels", invocation.arguments[1])
        return report(
            of: try context.admin(invocation).send(request, for: AdminAPI.Channel.self, about: [topic]))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove a channel with its subscriptions.",
            discussion: "Broadcasts to the channel are refused from then on. Its ID is never reused.",
            arguments: [topic, id], options: [SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let (topic, id) = (TopicName(invocation.arguments[0]), invocation.arguments[1])
        try Console.confirm("Remove channel \(id) and its subscriptions?", unless: invocation.has("yes"))
        try context.admin(invocation).send(.delete("apps", topic.text, "channels", id), about: [topic])
        return Report("Removed channel \(id).", json: Done())
    }

    /// Builds the request of `channel create`.
    static func createRequest(_ invocation: Invocation) -> AdminRequest {
        let policy = invocation.value("policy").flatMap { text in
            MessageStoragePolicy.allCases.first { word($0) == text }
        }
        let channel = AdminAPI.NewChannel(
            environment: invocation.value("environment").flatMap(Environment.init), messageStoragePolicy: policy)
        return .post(["apps", invocation.arguments[0], "channels"], channel)
    }

    /// Formats the output of `channel create` and `channel show`.
    static func report(of channel: AdminAPI.Channel) -> Report {
        Report(
            Table.fields([
                ("Channel ID", channel.channelID), ("Topic", channel.topic.text),
                ("Environment", channel.environment.rawValue), ("Stores", word(channel.messageStoragePolicy)),
                ("Subscriptions", "\(channel.subscriptionCount)"),
                ("Created", LocalTime.text(channel.createdAt)),
            ]), json: channel)
    }

    /// Formats the output of `channel list`.
    static func report(of channels: AdminAPI.Channels, topic: TopicName) -> Report {
        guard !channels.channels.isEmpty else {
            return Report(
                "No channels. Create one with 'posthorn channel create \(oneLine(topic.text))'.", json: channels)
        }
        let table = Table(
            [
                .text("CHANNEL ID"), .text("ENVIRONMENT"), .text("STORES"), .number("SUBSCRIPTIONS"), .text("CREATED"),
            ],
            rows: channels.channels.map { channel in
                [
                    channel.channelID, channel.environment.rawValue, word(channel.messageStoragePolicy),
                    "\(channel.subscriptionCount)", LocalTime.text(channel.createdAt),
                ]
            })
        return Report(table.text, json: channels)
    }
}
