// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn dnd`: do not disturb.
package enum QuietCommand {
    static let node = CommandNode(
        Command(
            "dnd", "Keep alerts and sounds away, for a while or at times of the week; say what holds.",
            discussion: """
                Badges and the inbox go on, and what an app may send as time-sensitive or critical comes through. Without a \
                word this says whether it holds now, and until when.
                """,
            usages: ["", "on", "off", "for DURATION", "until HH:MM", "schedule TIMES", "schedule none"],
            arguments: [
                Argument(
                    "WHAT", "on, off, for, until or schedule.", optional: true,
                    values: .choice(["on", "off", "for", "until", "schedule"])),
                Argument(
                    "VALUE", "How long (a number and s, m, h or d), until when, or which times of the week.",
                    optional: true, repeatable: true),
            ],
            examples: [
                Explanation("posthorn dnd for 2h", "Two hours of quiet."),
                Explanation("posthorn dnd until 07:30", "Until the next half past seven."),
                Explanation("posthorn dnd schedule mon-fri 22:00-07:00, sat sun 23:00-09:00", "Quiet nights."),
            ],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, surroundings) throws(CommandError) in
        let call = try setCall(invocation, nowUnixSeconds: LocalTime.nowUnixSeconds)
        let agent = try surroundings.agent()
        if let call { try agent.call(call) }
        let settings = try AgentAnswer.list(
            try agent.call(AgentCall("ListSettings", .string(""))), of: "ListSettings", as: AgentSetting.init)
        return report(of: settings, nowUnixSeconds: LocalTime.nowUnixSeconds)
    }

    /// What is asked of the agent; nil for nothing.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - now: The time.
    /// - Returns: The call.
    /// - Throws: When the words make no sense.
    package static func setCall(
        _ invocation: Invocation, nowUnixSeconds now: Int64
    ) throws(CommandError) -> AgentCall? {
        guard let what = invocation.argument(0) else { return nil }
        let value = invocation.arguments.dropFirst().joined(separator: " ")
        if value.isEmpty, let missing = ["for": "DURATION", "until": "HH:MM", "schedule": "TIMES"][what] {
            throw .usage(invocation.error(.missingArgument(placeholder: "\(missing) behind '\(what)'")))
        }
        switch what {
        case "on", "off":
            guard value.isEmpty else { throw wrong(invocation, value, "nothing behind '\(what)'") }
            return call(.doNotDisturb, what)
        case "for":
            guard let seconds = TimeSpan.seconds(value) else {
                throw wrong(invocation, value, TimeSpan.expectation(insteadOf: value))
            }
            return call(.doNotDisturb, DoNotDisturb.until(now + seconds).text)
        case "until":
            guard let end = LocalTime.next(value, afterUnixSeconds: now) else {
                throw wrong(invocation, value, "a time such as 07:30")
            }
            return call(.doNotDisturb, DoNotDisturb.until(end).text)
        default:
            guard let schedule = QuietSchedule(value) else {
                throw wrong(invocation, value, PersonalSetting.schedule.expectation(for: .person))
            }
            return call(.schedule, schedule.text)
        }
    }

    private static func call(_ setting: PersonalSetting, _ value: String) -> AgentCall {
        AgentCall("SetSetting", .string(""), .string(""), .string(setting.rawValue), .string(value))
    }

    private static func wrong(_ invocation: Invocation, _ value: String, _ expected: String) -> CommandError {
        .usage(invocation.error(.badValue(of: "VALUE", value: value, expected: expected)))
    }

    // MARK: What it prints

    /// What holds now, and what else is set.
    package static func report(of settings: [AgentSetting], nowUnixSeconds now: Int64) -> Report {
        func value(_ setting: PersonalSetting) -> String {
            settings.first { $0.name == setting.rawValue && $0.event.isEmpty }?.value ?? ""
        }
        let manual = DoNotDisturb(value(.doNotDisturb)) ?? .off
        let schedule = QuietSchedule(value(.schedule))
        let scheduleEnd = schedule.flatMap { end(of: $0, nowUnixSeconds: now) }
        var quiet = Quiet(active: true, until: nil, schedule: schedule?.text ?? "none")
        let text: String
        switch manual {
        case .on:
            text = "Do not disturb is on, until you switch it off: posthorn dnd off"
        case .until(let manualEnd) where manual.holds(at: now):
            quiet.until = max(manualEnd, scheduleEnd ?? 0)
            text = "Do not disturb is on until \(LocalTime.text(unixSeconds: quiet.until ?? 0))."
        case .off, .until:
            quiet.active = scheduleEnd != nil
            quiet.until = scheduleEnd
            let until = scheduleEnd.map { "on by its schedule until \(LocalTime.text(unixSeconds: $0))" }
            let remedy = until == nil ? "" : " To end that: posthorn dnd schedule none"
            text = "Do not disturb is \(until ?? "off").\(remedy)"
        }
        return Report(text + (quiet.schedule == "none" ? "" : "\nSchedule: \(quiet.schedule)"), json: quiet)
    }

    /// When a schedule that holds now ends: at the latest in a week; nil when it does not hold.
    private static func end(of schedule: QuietSchedule, nowUnixSeconds now: Int64) -> Int64? {
        guard schedule.contains(LocalTime.weekTime(unixSeconds: now)) else { return nil }
        let minute = now - now % 60
        let week = stride(from: minute + 60, through: minute + 7 * 86_400, by: 60)
        return week.first { !schedule.contains(LocalTime.weekTime(unixSeconds: $0)) } ?? minute + 7 * 86_400
    }
}

/// The JSON of `dnd`.
private struct Quiet: Encodable, Sendable {
    /// Whether it holds now.
    var active: Bool
    /// UNIX seconds; absent when it does not hold or has no end.
    var until: Int64?
    /// As it is set.
    var schedule: String
}
