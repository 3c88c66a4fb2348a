// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn settings`: what may reach this person.
package enum SettingsCommands {
    static let group = CommandNode(
        group: "settings", "Show and change what notifications may do on this device.",
        environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer,
        children: [list, show, set], defaultChild: "list")

    private static let list = CommandNode(Command("list", "List the settings of every registered app.")) {
        (_, surroundings) throws(CommandError) in
        let agent = try surroundings.agent()
        let personal = try lines(of: "", agent)
        return report(personal: personal, apps: try apps(of: agent))
    }

    private static let show = CommandNode(
        Command(
            "show", "Show the settings of an app and of its event types.",
            arguments: [Argument("APP", "The app id: its desktop file name without '.desktop'.")])
    ) { (invocation, surroundings) throws(CommandError) in
        let id = invocation.arguments[0]
        let agent = try surroundings.agent()
        let found = try apps(of: agent).first { $0.appID.utf8.elementsEqual(id.utf8) }
        guard let found else { throw unknownApp(id, known: try apps(of: agent).map(\.appID)) }
        return report(of: found, try lines(of: id, agent))
    }

    private static let set = CommandNode(
        Command(
            "set", "Change a setting; it takes effect at once.",
            discussion: """
                The master switch turns everything off at once and keeps the choices for each app. Notifications that \
                are not shown are still kept in the inbox, with one exception: when badge, sound and alert of an app \
                are all off, the server stops sending its notifications to this device. An app's alert is a style: \
                'off' is none, and 'on' the style that there was before that. 'standard' as the value gives a choice \
                up. 'posthorn settings show' lists what there is.
                """,
            usages: ["SETTING VALUE", "APP SETTING VALUE", "APP EVENT SETTING VALUE"],
            arguments: [
                Argument(
                    "APP", "The app id; nothing for a setting of everything.", optional: true,
                    values: .suggestions(PersonalSetting.allCases.filter { $0.scopes == [.person] }.map(\.rawValue))),
                Argument("EVENT", "One of the event types that the app declared.", optional: true),
                Argument("SETTING", "The setting, such as 'sound'.", optional: true),
                Argument("VALUE", "Mostly 'on' or 'off'.", optional: true),
            ],
            examples: [
                Explanation("posthorn settings set org.example.Mail sound off", "No sounds from Mail."),
                Explanation("posthorn settings set org.example.Mail alert alert", "Mail's alerts stay until answered."),
                Explanation("posthorn settings set org.example.Mail NEWS alert off", "No alerts about news from Mail."),
                Explanation("posthorn settings set schedule 'mon-fri 22:00-07:00'", "Quiet nights."),
                Explanation("posthorn settings set master off", "Nothing from anybody."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let call = try setCall(invocation)
        let agent = try surroundings.agent()
        try agent.call(call)
        let places = call.arguments.dropLast().compactMap(\.stringValue)
        // What is standard, and the style that 'on' brings back, only the agent knows.
        let value = try agent.call(
            AgentCall("GetSetting", .string(places[0]), .string(places[1]), .string(places[2])))
        return report(
            of: places, value: try AgentAnswer.string(value, of: "GetSetting"),
            isStandard: call.arguments.last?.stringValue?.isEmpty ?? false)
    }

    /// What `settings set` prints.
    ///
    /// - Parameters:
    ///   - places: App, event type and setting; the first two may be empty.
    ///   - value: What holds now.
    ///   - isStandard: Whether that is nobody's choice.
    /// - Returns: The report.
    package static func report(of places: [String], value: String, isStandard: Bool = false) -> Report {
        let place = places.filter { !$0.isEmpty }.map(oneLine).joined(separator: ": ")
        let remark = isStandard ? ", which is standard" : ""
        return Report("\(place) is \(shown(value, of: places.last ?? ""))\(remark).", json: Done())
    }

    /// What `settings set` asks of the agent.
    ///
    /// - Parameter invocation: Two words for a setting of everything, three for an app's, four for an event type's.
    /// - Returns: The call.
    /// - Throws: When the words do not go together.
    package static func setCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        let words = invocation.arguments
        guard let first = words.first else { throw .usage(invocation.error(.missingArgument(placeholder: "SETTING"))) }
        try checkName(first, invocation)
        guard words.count > 1 else { throw .usage(invocation.error(.missingArgument(placeholder: "VALUE"))) }
        let (name, value) = (words[words.count - 2], words[words.count - 1])
        let isPersonal = PersonalSetting(rawValue: words[0])?.scopes == [.person]
        // A value of several words, without quotes.
        if isPersonal, PersonalSetting(rawValue: name)?.scopes.contains(.app) != true {
            let value = words.dropFirst().joined(separator: " ")
            return AgentCall(
                "SetSetting", .string(""), .string(""), .string(words[0]), .string(value == "standard" ? "" : value))
        }
        guard words.count > 2 else {
            throw .usage(invocation.error(.missingArgument(placeholder: "VALUE (APP SETTING VALUE)")))
        }
        return AgentCall(
            "SetSetting", .string(words[0]), .string(words.count > 3 ? words[1] : ""),
            .string(name), .string(value == "standard" ? "" : value))
    }

    /// Finds a mistyped setting of everything, and an app's setting without the app.
    private static func checkName(_ first: String, _ invocation: Invocation) throws(CommandError) {
        // An app, and what is set of it.
        if invocation.arguments.dropFirst().contains(where: { PersonalSetting(rawValue: $0) != nil }) { return }
        let setting = PersonalSetting(rawValue: first)
        guard setting?.scopes.contains(.person) != true else { return }
        let words = [first] + invocation.arguments.dropFirst()
        if setting != nil {
            throw .advised(
                .usage(invocation.error(.contradiction("\(first) is a setting of an app"))),
                remedy: "Name the app: posthorn settings set APP \(words.joined(separator: " "))")
        }
        let personal = PersonalSetting.allCases.filter { $0.scopes.contains(.person) }.map(\.rawValue)
        let meant = Spelling.closest(to: first, among: PersonalSetting.allCases.map(\.rawValue))
        guard meant != nil || invocation.arguments.count == 2 && !first.contains(".") else { return }
        let question = meant.map { "Did you mean \($0)?" } ?? "There are \(personal.joined(separator: ", "))."
        throw .advised(
            .usage(invocation.error(.contradiction("there is no setting '\(first)'"))),
            remedy: "\(question) What belongs to an app stands behind the app id.")
    }

    /// An app id that nobody registered, with the one that was meant.
    ///
    /// - Parameters:
    ///   - id: As it was typed.
    ///   - known: Those that are registered.
    /// - Returns: The error.
    package static func unknownApp(_ id: String, known: [String]) -> CommandError {
        let error = CommandError.agentRefused(
            name: AgentFailure.unknownApp.rawValue, message: "no app \(id) is registered")
        guard let meant = Spelling.closest(to: id, among: known) else { return error }
        return .advised(error, remedy: "Did you mean \(meant)? \(error.remedy)")
    }

    /// Refuses an app id of which there is neither a registration nor a notification: a mistyped one finds nothing.
    static func checkApp(_ id: String, _ agent: AgentClient) throws(CommandError) {
        let known = try apps(of: agent).map(\.appID)
        guard !id.isEmpty, !known.contains(where: { $0.utf8.elementsEqual(id.utf8) }) else { return }
        let search = AgentCall("SearchInbox", .string(""), .string(id), .string(""), .int64(0), .uint32(1))
        let found = try AgentAnswer.list(try agent.call(search), of: search.method, as: InboxEntry.init)
        if found.isEmpty { throw unknownApp(id, known: known) }
    }

    static func apps(of agent: AgentClient) throws(CommandError) -> [AgentApp] {
        try AgentAnswer.list(try agent.call(AgentCall("ListApps")), of: "ListApps", as: AgentApp.init)
    }

    private static func lines(of app: String, _ agent: AgentClient) throws(CommandError) -> [AgentSetting] {
        try AgentAnswer.list(
            try agent.call(AgentCall("ListSettings", .string(app))), of: "ListSettings", as: AgentSetting.init)
    }

    /// What `settings list` prints.
    package static func report(personal: [AgentSetting], apps: [AgentApp]) -> Report {
        let json = Settings(settings: personal, apps: apps)
        let isOn = personal.contains { $0.name == PersonalSetting.master.rawValue && $0.value == "on" }
        let state = isOn ? "on." : "off: nothing is shown, whatever stands below."
        let head = "Notifications are \(state)\n\n\(table(of: personal))"
        guard !apps.isEmpty else {
            return Report("\(head)\n\nNo apps yet. Register one: posthorn register APP", json: json)
        }
        let table = Table(
            [
                .text("APP"), .text("NAME"), .text("BADGE"), .text("SOUND"), .text("ALERT"), .number("BADGE COUNT"),
                .number("CHANNELS"),
            ],
            rows: apps.map { app in
                let switches = [word(app.allowsBadge), word(app.allowsSound), app.alertStyle]
                return [app.appID, app.name] + switches + ["\(app.badge)", "\(app.channels.count)"]
            })
        return Report("\(head)\n\n\(table.text)", json: json)
    }

    /// What `settings show` prints.
    package static func report(of app: AgentApp, _ settings: [AgentSetting]) -> Report {
        let facts = Table.fields(
            [
                ("App", app.appID), ("Name", app.name), ("Topic", app.topic), ("Environment", app.environment),
                ("Device token", app.deviceToken), ("Badge count", "\(app.badge)"),
            ] + channels(of: app))
        return Report("\(facts)\n\n\(table(of: settings))", json: ShownApp(app: app, settings: settings))
    }

    /// Names and values, those of event types below the others.
    private static func table(of settings: [AgentSetting]) -> String {
        let hasEvents = settings.contains { !$0.event.isEmpty }
        return Table(
            (hasEvents ? [.text("EVENT")] : []) + [.text("SETTING"), .text("VALUE"), .text("")],
            rows: settings.map { line in
                (hasEvents ? [line.event] : []) + [line.name, shown(line.value, of: line.name), remark(on: line)]
            }
        ).text
    }

    /// A value as people read it: a moment instead of seconds.
    private static func shown(_ value: String, of name: String) -> String {
        guard PersonalSetting(rawValue: name) == .doNotDisturb, case .until(let end)? = DoNotDisturb(value) else {
            return oneLine(value)
        }
        let isOver = end <= LocalTime.nowUnixSeconds
        return isOver ? DoNotDisturb.off.text : "until \(LocalTime.text(unixSeconds: end))"
    }

    /// Whose value it is where it is not the person's, nor anybody's.
    private static func remark(on line: AgentSetting) -> String {
        if line.isLocked { return "set by the administrator" }
        return line.origin == "administrator" ? "the administrator's standard" : ""
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
    let settings: [AgentSetting]
    let apps: [AgentApp]
}

/// The JSON of `settings show`.
private struct ShownApp: Encodable, Sendable {
    let app: AgentApp
    let settings: [AgentSetting]
}
