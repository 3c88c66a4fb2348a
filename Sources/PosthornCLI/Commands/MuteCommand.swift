// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The command `posthorn settings mute`: suppresses alerts and sounds of an app for a while.
enum MuteCommand {
    static let node = CommandNode(
        Command(
            "mute", "Suppress alerts and sounds of an app for a while.",
            discussion: """
                Badges and the inbox still change. Critical notifications are still shown if the app's settings allow \
                them; time-sensitive notifications are not.
                """,
            usages: ["APP", "APP TIME", "APP until TIME", "APP off"],
            arguments: [
                Argument("APP", "The app ID: the name of its desktop file without '.desktop'."),
                Argument(
                    "TIME",
                    "\(LaterArgument.help). Default: 1h.",
                    optional: true, repeatable: true),
            ],
            examples: [
                Explanation("posthorn settings mute org.example.Mail", "Mute Mail for an hour."),
                Explanation(
                    "posthorn settings mute org.example.Mail tomorrow", "Mute it until 07:00, today or tomorrow."),
                Explanation("posthorn settings mute org.example.Mail off", "Unmute it."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let mute = try mute(invocation, now: LocalTime.now)
        let (agent, app) = (try context.agent(), invocation.arguments[0])
        do throws(CommandError) {
            try agent.call(call(app, mute))
        } catch {
            throw SettingsCommands.advised(error, app: app, agent)
        }
        return report(of: app, mute)
    }

    /// Returns the value of the setting that the command line asks for.
    static func mute(_ invocation: Invocation, now: Timestamp) throws(CommandError) -> DoNotDisturb {
        var words = invocation.arguments.dropFirst()
        let app = invocation.arguments[0]
        guard !words.isEmpty || LocalTime.later(app, after: now) == nil else {
            throw .advised(
                .usage(invocation.error(.missingArgument(placeholder: "APP"))),
                remedy: "Use: posthorn settings mute APP \(app)")
        }
        if words.count == 1, words.first?.hasSameBytes(as: DoNotDisturb.off.text) == true { return .off }
        if words.first?.hasSameBytes(as: "until") == true {
            words.removeFirst()
            guard !words.isEmpty else {
                throw .usage(invocation.error(.missingArgument(placeholder: "TIME after 'until'")))
            }
        }
        let text = words.isEmpty ? LaterChoice.oneHour.rawValue : words.joined(separator: " ")
        return .until(
            try LaterArgument.time(text, of: invocation, after: now, others: [DoNotDisturb.off.text]))
    }

    /// Builds the call of `settings mute`.
    static func call(_ app: String, _ mute: DoNotDisturb) -> AgentCall {
        AgentCall(
            .setSetting, .string(app), .string(""), .string(Setting.muted.rawValue), .string(mute.text))
    }

    /// Formats the output of `settings mute`.
    static func report(of app: String, _ mute: DoNotDisturb) -> Report {
        guard case .until(let end) = mute else {
            return Report("\(oneLine(app)) is not muted.", json: Muted(app: app, until: 0))
        }
        return Report(
            "\(oneLine(app)) is muted until \(LocalTime.text(end)).", json: Muted(app: app, until: end.unixSeconds))
    }
}

/// The JSON of `settings mute`.
private struct Muted: Encodable, Sendable {
    let app: String
    /// The end in UNIX seconds; 0 if the app is not muted.
    let until: Int64
}
