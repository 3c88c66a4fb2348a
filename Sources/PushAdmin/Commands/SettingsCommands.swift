// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn settings`: what may reach this person.
package enum SettingsCommands {
    static let group = CommandNode(
        group: "settings", "Show and change what notifications may do on this device.",
        environment: AgentCommands.sessionBus, children: [list, show, set])

    private static let switches = ["on", "off"]

    private static let list = CommandNode(Command("list", "List the settings of every registered app.")) {
        (_, surroundings) throws(CommandError) in
        let agent = try surroundings.agent()
        let master = try AgentAnswer.bool(try agent.call(AgentCall("GetMaster")), of: "GetMaster")
        return report(master: master, apps: try apps(of: agent))
    }

    private static let show = CommandNode(
        Command(
            "show", "Show the settings of an app.",
            arguments: [Argument("APP", "The app id: its desktop file name without '.desktop'.")])
    ) { (invocation, surroundings) throws(CommandError) in
        let id = invocation.arguments[0]
        let found = try apps(of: try surroundings.agent()).first { $0.appID.utf8.elementsEqual(id.utf8) }
        guard let found else {
            throw .agentRefused(name: AgentFailure.unknownApp.rawValue, message: "no app \(id) is registered")
        }
        return report(of: found)
    }

    private static let set = CommandNode(
        Command(
            "set", "Turn something on or off.",
            discussion: """
                The master switch turns everything off at once and keeps the choices for each app. Notifications that \
                are not shown are still kept in the inbox, with one exception: when badge, sound and alert of an app \
                are all off, the server stops sending its notifications to this device.
                """,
            usages: ["APP badge|sound|alert on|off", "master on|off"],
            arguments: [
                Argument(
                    "APP", "The app id, or 'master' for the switch above all apps.", values: .suggestions(["master"])),
                Argument(
                    "SETTING", "badge, sound or alert; for 'master': on or off.",
                    values: .choice(["badge", "sound", "alert"] + switches)),
                Argument("STATE", "on or off; nothing for 'master'.", optional: true, values: .choice(switches)),
            ],
            examples: [
                Explanation("posthorn settings set org.example.Mail sound off", "No sounds from Mail."),
                Explanation("posthorn settings set master off", "Nothing from anybody."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        try surroundings.agent().call(try setCall(invocation))
        let words = invocation.arguments.map(oneLine)
        return Report("\(words.dropLast().joined(separator: ": ")) is \(words[words.count - 1]).", json: Done())
    }

    /// What `settings set` asks of the agent.
    ///
    /// - Parameter invocation: Two words for the master switch, three for an app.
    /// - Returns: The call.
    /// - Throws: When the words do not go together.
    package static func setCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        let words = invocation.arguments
        let isSwitch = switches.contains(words[1])
        switch (words.count, isSwitch) {
        case (2, true) where words[0] == "master": return AgentCall("SetMaster", .bool(words[1] == "on"))
        case (2, true): throw .usage(invocation.error(.missingArgument(placeholder: "SETTING (badge, sound or alert)")))
        case (2, false): throw .usage(invocation.error(.missingArgument(placeholder: "STATE (on or off)")))
        case (_, true):
            let expected = "one of badge, sound, alert"
            throw .usage(invocation.error(.badValue(of: "SETTING", value: words[1], expected: expected)))
        case (_, false):
            return AgentCall("SetAppSetting", .string(words[0]), .string(words[1]), .bool(words[2] == "on"))
        }
    }

    private static func apps(of agent: AgentClient) throws(CommandError) -> [AgentApp] {
        try AgentAnswer.list(try agent.call(AgentCall("ListApps")), of: "ListApps", as: AgentApp.init)
    }

    /// What `settings list` prints.
    package static func report(master: Bool, apps: [AgentApp]) -> Report {
        let json = Settings(master: master, apps: apps)
        let head = "Notifications are \(master ? "on." : "off: nothing is shown, whatever stands below.")"
        guard !apps.isEmpty else {
            return Report("\(head)\n\nNo apps yet. Register one: posthorn register APP", json: json)
        }
        let table = Table(
            [
                .text("APP"), .text("NAME"), .text("BADGE"), .text("SOUND"), .text("ALERT"), .number("BADGE COUNT"),
                .number("CHANNELS"),
            ],
            rows: apps.map { app in
                let switches = [app.allowsBadge, app.allowsSound, app.allowsAlert].map(word)
                return [app.appID, app.name] + switches + ["\(app.badge)", "\(app.channels.count)"]
            })
        return Report("\(head)\n\n\(table.text)", json: json)
    }

    /// What `settings show` prints.
    package static func report(of app: AgentApp) -> Report {
        Report(
            Table.fields(
                [
                    ("App", app.appID), ("Name", app.name), ("Topic", app.topic), ("Environment", app.environment),
                    ("Device token", app.deviceToken),
                    ("Badge", "\(word(app.allowsBadge)), count \(app.badge)"), ("Sound", word(app.allowsSound)),
                    ("Alert", word(app.allowsAlert)),
                ] + channels(of: app)), json: app)
    }

    /// One line for each channel.
    private static func channels(of app: AgentApp) -> [(name: String, value: String)] {
        guard !app.channels.isEmpty else { return [("Channels", "none")] }
        return app.channels.enumerated().map { index, channel in
            let isPending = app.pendingChannels.contains { $0.utf8.elementsEqual(channel.utf8) }
            return (index == 0 ? "Channels" : "", isPending ? "\(channel), the server is still to be told" : channel)
        }
    }

    private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }
}

/// The JSON of `settings list`.
private struct Settings: Encodable, Sendable {
    let master: Bool
    let apps: [AgentApp]
}
