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
                    "A duration such as 2h, evening (18:00), tomorrow (07:00), HH:MM, YYYY-MM-DD HH:MM, or off. "
                        + "Default: 1h.",
                    optional: true, repeatable: true),
            ],
            examples: [
                Explanation("posthorn settings mute org.example.Mail", "Mute Mail for an hour."),
                Explanation("posthorn settings mute org.example.Mail tomorrow", "Mute it until it is 07:00."),
                Explanation("posthorn settings mute org.example.Mail off", "Show its alerts again."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let mute = try mute(invocation, now: LocalTime.now)
        try context.agent().call(call(invocation.arguments[0], mute))
        return report(of: invocation.arguments[0], mute)
    }

    /// Returns the value of the setting that the command line asks for.
    static func mute(_ invocation: Invocation, now: Timestamp) throws(CommandError) -> DoNotDisturb {
        var words = invocation.arguments.dropFirst()
        if words.count > 1, words.first?.utf8.elementsEqual("until".utf8) == true { words.removeFirst() }
        let text = words.isEmpty ? LaterChoice.oneHour.rawValue : words.joined(separator: " ")
        if text.utf8.elementsEqual(DoNotDisturb.off.text.utf8) { return .off }
        guard let end = LocalTime.later(text, after: now) else {
            throw .usage(
                invocation.error(.badValue(of: "TIME", value: text, expected: "\(LocalTime.laterExpectation), or off")))
        }
        return .until(end)
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
