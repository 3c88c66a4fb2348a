// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The command `posthorn dnd`: shows and changes Do Not Disturb.
enum QuietCommand {
    static let node = CommandNode(
        Command(
            "dnd", "Show and change Do Not Disturb.",
            discussion: """
                Do Not Disturb suppresses alerts and sounds, but not badges and the inbox. Time-sensitive and critical \
                notifications are still shown if the app's settings allow them. Without an argument, this command shows \
                the current state.
                """,
            usages: ["", "on", "off", "for DURATION", "until HH:MM", "schedule TIMES", "schedule none"],
            arguments: [
                Argument(
                    "ACTION", "on, off, for, until or schedule.", optional: true,
                    values: .choice(["on", "off", "for", "until", "schedule"])),
                Argument(
                    "VALUE", "A duration (a number with s, m, h or d), a time, or times of the week.",
                    optional: true, repeatable: true),
            ],
            examples: [
                Explanation("posthorn dnd for 2h", "Turn it on for two hours."),
                Explanation("posthorn dnd until 07:30", "Turn it on until 07:30."),
                Explanation(
                    "posthorn dnd schedule mon-fri 22:00-07:00, sat sun 23:00-09:00", "Turn it on every night."),
            ],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, context) throws(CommandError) in
        let call = try setCall(invocation, now: LocalTime.now)
        let agent = try context.agent()
        if let call { try agent.call(call) }
        let settings = try AgentAnswer.list(
            try agent.call(AgentCall(.listSettings, .string(""))), of: .listSettings, as: SettingRecord.self)
        return report(of: settings, now: LocalTime.now)
    }

    /// Builds the call that changes Do Not Disturb; nil if the command line only asks for its state.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - now: The current time.
    /// - Returns: The call.
    /// - Throws: An error when the arguments are invalid.
    static func setCall(_ invocation: Invocation, now: Timestamp) throws(CommandError) -> AgentCall? {
        guard let what = invocation.argument(0) else { return nil }
        let value = invocation.arguments.dropFirst().joined(separator: " ")
        if value.isEmpty, let missing = ["for": "DURATION", "until": "HH:MM", "schedule": "TIMES"][what] {
            throw .usage(invocation.error(.missingArgument(placeholder: "\(missing) after '\(what)'")))
        }
        switch what {
        case "on", "off":
            guard value.isEmpty else { throw .usage(invocation.error(.unexpectedArgument(value))) }
            return call(.doNotDisturb, what)
        case "for":
            guard let seconds = TimeSpan.seconds(value) else {
                throw wrong(invocation, "DURATION", value, TimeSpan.expectation(insteadOf: value))
            }
            return call(.doNotDisturb, DoNotDisturb.until(now.advanced(bySeconds: seconds)).text)
        case "until":
            guard let end = LocalTime.next(value, after: now) else {
                throw wrong(invocation, "HH:MM", value, "use a time such as 07:30")
            }
            return call(.doNotDisturb, DoNotDisturb.until(end).text)
        default:
            guard let schedule = QuietSchedule(value) else {
                let expected = SettingsCommands.expectation(of: .schedule, for: .device, insteadOf: value)
                throw wrong(invocation, "TIMES", value, expected)
            }
            return call(.schedule, schedule.text)
        }
    }

    private static func call(_ setting: Setting, _ value: String) -> AgentCall {
        AgentCall(.setSetting, .string(""), .string(""), .string(setting.rawValue), .string(value))
    }

    private static func wrong(
        _ invocation: Invocation, _ name: String, _ value: String, _ expected: String
    ) -> CommandError {
        .usage(invocation.error(.badValue(of: name, value: value, expected: expected)))
    }

    // MARK: Output

    /// Formats the current state and the schedule.
    static func report(of settings: [SettingRecord], now: Timestamp) -> Report {
        func value(_ setting: Setting) -> String {
            settings.first { $0.name == setting.rawValue && $0.event.isEmpty }?.value ?? ""
        }
        let manual = DoNotDisturb(value(.doNotDisturb)) ?? .off
        let schedule = QuietSchedule(value(.schedule))
        let scheduleEnd = schedule.flatMap { end(of: $0, now: now) }
        var quiet = Quiet(active: true, until: nil, schedule: schedule?.text ?? "none")
        let text: String
        switch manual {
        case .on:
            text = "Do Not Disturb is on. Turn it off with 'posthorn dnd off'."
        case .until(let manualEnd) where manual.holds(at: now):
            quiet.until = max(manualEnd, scheduleEnd ?? .unixEpoch)
            text = "Do Not Disturb is on until \(LocalTime.text(quiet.until ?? .unixEpoch))."
        case .off, .until:
            quiet.active = scheduleEnd != nil
            quiet.until = scheduleEnd
            let until = scheduleEnd.map { "on by its schedule until \(LocalTime.text($0))" }
            let remedy = until == nil ? "" : " Remove the schedule with 'posthorn dnd schedule none'."
            text = "Do Not Disturb is \(until ?? "off").\(remedy)"
        }
        return Report(text + (quiet.schedule == "none" ? "" : "\nSchedule: \(quiet.schedule)"), json: quiet)
    }

    /// Returns when an active schedule ends, at most one week from now; nil if the schedule is not active.
    private static func end(of schedule: QuietSchedule, now: Timestamp) -> Timestamp? {
        guard schedule.contains(LocalTime.weekTime(now)) else { return nil }
        let minute = now.advanced(bySeconds: -(now.unixSeconds % 60))
        let minutesOfWeek = 7 * 1440
        for count in 1...minutesOfWeek {
            let end = minute.advanced(bySeconds: Int64(count) * 60)
            if !schedule.contains(LocalTime.weekTime(end)) { return end }
        }
        return minute.advanced(bySeconds: Int64(minutesOfWeek) * 60)
    }
}

/// The JSON of `dnd`.
private struct Quiet: Encodable, Sendable {
    /// Whether Do Not Disturb is active now.
    var active: Bool
    /// The end; absent when Do Not Disturb is inactive or has no end.
    var until: Timestamp?
    /// The configured schedule.
    var schedule: String
}
