// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushDBus

/// The commands `posthorn subscribe` and `posthorn unsubscribe`, for an app's broadcast channels on this device.
enum SubscribeCommands {
    private static let channel = Argument(
        "CHANNEL", "The channel ID (24 characters) that the app's back-end received in apns-channel-id.")

    static let subscribe = CommandNode(
        Command(
            "subscribe", "Subscribe a registered app to a broadcast channel.",
            discussion: """
                A broadcast to a channel is delivered to every device that subscribed to it. If the server cannot be \
                reached, the subscription is saved and sent later. Run 'posthorn settings show APP' to list the \
                channels of an app.
                """,
            arguments: [RegisterCommands.app, channel],
            examples: [
                Explanation("posthorn subscribe org.example.Mail AAECAwQFBgcICQoLDA0ODw==", "Subscribe to a channel.")
            ],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, context) throws(CommandError) in
        let call = try call(.subscribe, invocation)
        let state = try AgentAnswer.string(try context.agent().call(call), of: .subscribe)
        return report(appID: invocation.arguments[0], channel: invocation.arguments[1], state: state)
    }

    static let unsubscribe = CommandNode(
        Command(
            "unsubscribe", "End an app's subscription to a broadcast channel.",
            arguments: [RegisterCommands.app, channel], environment: AgentCommands.sessionBus,
            unused: AgentCommands.ofServer)
    ) { (invocation, context) throws(CommandError) in
        try context.agent().call(try call(.unsubscribe, invocation))
        let words = invocation.arguments.map(oneLine)
        return Report("Unsubscribed \(words[0]) from channel \(words[1]).", json: Done())
    }

    /// Builds the call of either command.
    ///
    /// - Parameters:
    ///   - method: The agent's method.
    ///   - invocation: The command line, with the app ID and channel ID.
    /// - Returns: The call.
    /// - Throws: An error when the app ID is a path or a file name.
    static func call(_ method: AgentMethod, _ invocation: Invocation) throws(CommandError) -> AgentCall {
        AgentCall(method, .string(try RegisterCommands.appID(invocation)), .string(invocation.arguments[1]))
    }

    /// Formats the output of `subscribe`.
    static func report(appID: String, channel: String, state: String) -> Report {
        let text =
            state == "active"
            ? "Subscribed \(oneLine(appID)) to channel \(oneLine(channel))."
            : "Saved the subscription of \(oneLine(appID)) to channel \(oneLine(channel)). It takes effect when the "
                + "server can be reached."
        return Report(text, json: ["app_id": appID, "channel": channel, "state": state])
    }
}
