// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn subscribe` and `posthorn unsubscribe`: broadcast channels of an app on this device.
package enum SubscribeCommands {
    private static let channel = Argument(
        "CHANNEL", "The channel id, 24 characters, as the app's back-end got it in apns-channel-id.")

    static let subscribe = CommandNode(
        Command(
            "subscribe", "Subscribe a registered app to a broadcast channel.",
            discussion: """
                A back-end sends one broadcast to a channel, and every device that subscribed gets it. While the server \
                cannot be reached the subscription is kept, and the server is told later. 'posthorn settings show APP' \
                lists the channels of an app.
                """,
            arguments: [RegisterCommands.app, channel],
            examples: [
                Explanation("posthorn subscribe org.example.Mail AAECAwQFBgcICQoLDA0ODw==", "Listens to a channel.")
            ],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, surroundings) throws(CommandError) in
        let call = try call("Subscribe", invocation)
        let state = try AgentAnswer.string(try surroundings.agent().call(call), of: "Subscribe")
        return report(appID: invocation.arguments[0], channel: invocation.arguments[1], state: state)
    }

    static let unsubscribe = CommandNode(
        Command(
            "unsubscribe", "End an app's subscription to a broadcast channel.",
            arguments: [RegisterCommands.app, channel], environment: AgentCommands.sessionBus,
            unused: AgentCommands.ofServer)
    ) { (invocation, surroundings) throws(CommandError) in
        try surroundings.agent().call(try call("Unsubscribe", invocation))
        let words = invocation.arguments.map(oneLine)
        return Report("\(words[0]) no longer listens to \(words[1]).", json: Done())
    }

    /// What the two commands ask of the agent.
    ///
    /// - Parameters:
    ///   - method: The method of the agent.
    ///   - invocation: With app id and channel id.
    /// - Returns: The call.
    /// - Throws: When a path or a file name stands where an app id belongs.
    package static func call(_ method: String, _ invocation: Invocation) throws(CommandError) -> AgentCall {
        AgentCall(method, .string(try RegisterCommands.appID(invocation)), .string(invocation.arguments[1]))
    }

    /// What `subscribe` prints.
    package static func report(appID: String, channel: String, state: String) -> Report {
        let text =
            state == "active"
            ? "\(oneLine(appID)) listens to \(oneLine(channel))."
            : "\(oneLine(appID)) is to listen to \(oneLine(channel)); the server is told as soon as it can be reached."
        return Report(text, json: ["app_id": appID, "channel": channel, "state": state])
    }
}
