// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The command `posthorn settings`: shows and changes this user's notification settings.
enum SettingsCommands {
    static let group = CommandNode(
        group: "settings", "Show and change the notification settings of this device.",
        environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer,
        children: [list, show, set, MuteCommand.node], defaultChild: "list")

    private static let list = CommandNode(
        Command("list", "List the global settings and those of every registered app.")
    ) {
        (_, context) throws(CommandError) in
        let agent = try context.agent()
        let deviceSettings = try lines(of: "", agent)
        return report(deviceSettings: deviceSettings, apps: try apps(of: agent))
    }

    private static let show = CommandNode(
        Command(
            "show", "Show the settings of an app and of its event types.",
            arguments: [Argument("APP", "The app ID: the name of its desktop file without '.desktop'.")])
    ) { (invocation, context) throws(CommandError) in
        let id = invocation.arguments[0]
        let agent = try context.agent()
        let found = try apps(of: agent).first { $0.appID.utf8.elementsEqual(id.utf8) }
        guard let found else { throw unknownApp(id, known: try apps(of: agent).map(\.appID)) }
        return report(of: found, try lines(of: id, agent))
    }

    private static let set = CommandNode(
        Command(
            "set", "Change a setting; it takes effect immediately.",
            discussion: """
                'master off' turns off all notifications and keeps the settings of each app. Notifications that are not \
                shown are still kept in the inbox, with one exception: if badge, sound and alert of an app are all off, \
                the server stops sending its notifications to this device.

                The alert setting of an app is a style (none, banner or alert). 'off' selects none, and 'on' restores \
                the previous style. The value 'default' resets a setting. Run 'posthorn settings list' to list the \
                global settings, and 'posthorn settings show APP' to list those of an app.
                """,
            usages: ["SETTING VALUE", "APP SETTING VALUE", "APP EVENT SETTING VALUE"],
            arguments: [
                Argument(
                    "APP", "The app ID; omit it for a global setting.", optional: true,
                    values: .suggestions(Setting.allCases.filter { $0.scopes == [.device] }.map(\.rawValue))),
                Argument("EVENT", "An event type that the app declared.", optional: true),
                Argument("SETTING", "The setting, for example 'sound'.", optional: true),
                Argument("VALUE", "The value, mostly 'on' or 'off'; 'default' resets the setting.", optional: true),
            ],
            examples: [
                Explanation("posthorn settings set org.example.Mail sound off", "Turn off sounds of Mail."),
                Explanation(
                    "posthorn settings set org.example.Mail alert alert",
                    "Keep alerts of Mail on the screen until answered."),
                Explanation(
                    "posthorn settings set org.example.Mail NEWS alert off",
                    "Turn off alerts of Mail for the event type NEWS."),
                Explanation(
                    "posthorn settings set schedule 'mon-fri 22:00-07:00'", "Turn on Do Not Disturb every night."),
                Explanation("posthorn settings set master off", "Turn off all notifications."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let call = try setCall(invocation)
        let agent = try context.agent()
        do throws(CommandError) {
            try agent.call(call)
        } catch {
            throw advised(
                error, app: call.arguments[0].stringValue ?? "", event: call.arguments[1].stringValue ?? "", agent)
        }
        let places = call.arguments.dropLast().compactMap(\.stringValue)
        // Only the agent knows the default value, and the alert style that `on` restores.
        let value = try agent.call(
            AgentCall(.getSetting, .string(places[0]), .string(places[1]), .string(places[2])))
        return report(
            of: places, value: try AgentAnswer.string(value, of: .getSetting),
            isStandard: call.arguments.last?.stringValue?.isEmpty ?? false)
    }

    /// Formats the output of `settings set`.
    ///
    /// - Parameters:
    ///   - places: The app ID, event type and setting; the first two may be empty.
    ///   - value: The current value.
    ///   - isStandard: Whether the value is the default.
    /// - Returns: The report.
    static func report(of places: [String], value: String, isStandard: Bool = false) -> Report {
        let place = places.filter { !$0.isEmpty }.map(oneLine).joined(separator: ": ")
        let remark = isStandard ? ", the default" : ""
        return Report("\(place) is \(shown(value, of: places.last ?? ""))\(remark).", json: Done())
    }

    /// Builds the call of `settings set`.
    ///
    /// - Parameter invocation: Two arguments for a global setting, three for an app's, four for an event type's.
    /// - Returns: The call.
    /// - Throws: An error when the arguments are invalid.
    static func setCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        let words = invocation.arguments
        guard let first = words.first else { throw .usage(invocation.error(.missingArgument(placeholder: "SETTING"))) }
        try checkName(first, invocation)
        guard words.count > 1 else { throw .usage(invocation.error(.missingArgument(placeholder: "VALUE"))) }
        let (name, value) = (words[words.count - 2], words[words.count - 1])
        let isDeviceSetting = Setting(rawValue: words[0])?.scopes == [.device]
        // A value of several words needs no quotes for a global setting.
        if isDeviceSetting, Setting(rawValue: name)?.scopes.contains(.app) != true {
            let value = words.dropFirst().joined(separator: " ")
            return try setCall(invocation, app: "", event: "", words[0], value)
        }
        guard words.count > 2 else {
            throw .advised(
                .usage(invocation.error(.missingArgument(placeholder: "VALUE"))),
                remedy: "Use: posthorn settings set APP SETTING VALUE")
        }
        return try setCall(invocation, app: words[0], event: words.count > 3 ? words[1] : "", name, value)
    }

    private static func setCall(
        _ invocation: Invocation, app: String, event: String, _ name: String, _ value: String
    ) throws(CommandError) -> AgentCall {
        let scope: Setting.Scope = app.isEmpty ? .device : event.isEmpty ? .app : .event
        let possible = Setting.allCases.filter { $0.scopes.contains(scope) }
        guard let setting = possible.first(where: { $0.rawValue.utf8.elementsEqual(name.utf8) }) else {
            let owner = scope == .event ? "an event type" : "an app"
            let names = possible.map(\.rawValue)
            let meant = Spelling.closest(to: name, among: names).map { "Did you mean '\($0)'? " } ?? ""
            throw .advised(
                .usage(invocation.error(.contradiction("unknown setting '\(name)'"))),
                remedy: "\(meant)Settings of \(owner): \(names.joined(separator: ", ")).")
        }
        guard value == "default" || setting.normalized(value, for: scope) != nil else {
            throw .usage(
                invocation.error(
                    .badValue(of: name, value: value, expected: expectation(of: setting, for: scope, insteadOf: value)))
            )
        }
        return AgentCall(
            .setSetting, .string(app), .string(event), .string(name), .string(value == "default" ? "" : value))
    }

    /// Returns what to use instead of an invalid value; a time has commands that need no UNIX seconds.
    static func expectation(of setting: Setting, for scope: Setting.Scope, insteadOf value: String) -> String {
        switch setting {
        case .schedule where QuietSchedule.hasEmptySpan(value):
            "use different times for start and end, or 00:00-24:00 for whole days"
        case .doNotDisturb: "use on or off, or set an end with 'posthorn dnd until HH:MM'"
        case .muted: "use off, or set an end with 'posthorn settings mute APP TIME'"
        default: "use \(setting.expectation(for: scope))"
        }
    }

    /// Adds the closest app ID or event type to an error about an unknown one.
    static func advised(
        _ error: CommandError, app: String, event: String = "", _ agent: AgentClient
    ) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        switch AgentErrorCode(busName: name) {
        case .unknownApp: return unknownApp(app, known: (try? apps(of: agent).map(\.appID)) ?? [])
        case .unknownEvent:
            let known = Set((try? lines(of: app, agent).map(\.event)) ?? []).subtracting([""]).sorted()
            return Spelling.closest(to: event, among: known).map { .advised(error, remedy: "Did you mean '\($0)'?") }
                ?? error
        default: return error
        }
    }

    /// Throws for a misspelled global setting, and for an app's setting without the app.
    private static func checkName(_ first: String, _ invocation: Invocation) throws(CommandError) {
        // A later argument names a setting, so the first one is an app ID.
        if invocation.arguments.dropFirst().contains(where: { Setting(rawValue: $0) != nil }) { return }
        let setting = Setting(rawValue: first)
        guard setting?.scopes.contains(.device) != true else { return }
        let words = [first] + invocation.arguments.dropFirst()
        if setting != nil {
            throw .advised(
                .usage(invocation.error(.contradiction("'\(first)' is a setting of an app"))),
                remedy: "Specify the app: posthorn settings set APP \(words.joined(separator: " "))")
        }
        let deviceSettings = Setting.allCases.filter { $0.scopes.contains(.device) }.map(\.rawValue)
        let meant = Spelling.closest(to: first, among: Setting.allCases.map(\.rawValue))
        guard meant != nil || invocation.arguments.count == 2 && !first.contains(".") else { return }
        let question =
            meant.map { "Did you mean '\($0)'?" } ?? "Global settings: \(deviceSettings.joined(separator: ", "))."
        throw .advised(
            .usage(invocation.error(.contradiction("unknown setting '\(first)'"))),
            remedy: "\(question) Settings of an app follow the app ID.")
    }

    /// Returns the error for an unregistered app ID, with a suggestion of the closest registered one.
    ///
    /// - Parameters:
    ///   - id: The app ID, as the user typed it.
    ///   - known: The IDs of the registered apps.
    /// - Returns: The error.
    static func unknownApp(_ id: String, known: [String]) -> CommandError {
        let error = CommandError.agentRefused(name: AgentErrorCode.unknownApp.busName, message: "")
        let meant = Spelling.closest(to: id, among: known).map { ". Did you mean '\($0)'?" }
        return .reworded(error, problem: "app '\(id)' is not registered\(meant ?? "; see 'posthorn settings list'")")
    }

    /// Throws for an app ID that has neither a registration nor a notification, because it is probably misspelled.
    static func checkApp(_ id: String, _ agent: AgentClient) throws(CommandError) {
        let known = try apps(of: agent).map(\.appID)
        guard !id.isEmpty, !known.contains(where: { $0.utf8.elementsEqual(id.utf8) }) else { return }
        let search = AgentCall(.searchInbox, .string(""), .string(id), .string(""), .int64(0), .uint32(1))
        let found = try AgentAnswer.list(try agent.call(search), of: search.method, as: InboxRecord.self)
        if found.isEmpty { throw unknownApp(id, known: known) }
    }

    static func apps(of agent: AgentClient) throws(CommandError) -> [AppRecord] {
        try AgentAnswer.list(try agent.call(AgentCall(.listApps)), of: .listApps, as: AppRecord.self)
    }

    private static func lines(of app: String, _ agent: AgentClient) throws(CommandError) -> [SettingRecord] {
        try AgentAnswer.list(
            try agent.call(AgentCall(.listSettings, .string(app))), of: .listSettings, as: SettingRecord.self)
    }

    /// Formats the output of `settings list`.
    static func report(deviceSettings: [SettingRecord], apps: [AppRecord]) -> Report {
        let json = Settings(settings: deviceSettings, apps: apps)
        let isOn = deviceSettings.contains { $0.name == Setting.master.rawValue && $0.value == "on" }
        let state = isOn ? "on." : "off (master switch)."
        let head = "Notifications are \(state)\n\n\(table(of: deviceSettings))"
        guard !apps.isEmpty else {
            return Report("\(head)\n\nNo apps. Register one with 'posthorn register APP'.", json: json)
        }
        let table = Table(
            [
                .name("APP"), .name("NAME"), .text("BADGE"), .text("SOUND"), .text("ALERT"), .number("BADGE COUNT"),
                .number("CHANNELS"),
            ],
            rows: apps.map { app in
                let switches = [word(app.allowsBadge), word(app.allowsSound), app.alertStyle]
                return [app.appID, shownName(of: app)] + switches + ["\(app.badge)", "\(app.channels.count)"]
            })
        let missing = apps.filter(\.deviceToken.isEmpty).map { app in
            "The device token of \(oneLine(app.appID)) is missing: \(withoutToken)."
        }
        return Report(([head, table.text] + missing).joined(separator: "\n\n"), json: json)
    }

    /// The possible reasons why an app has no device token.
    private static let withoutToken = "the server does not have the app, or this device is not enrolled"

    /// Formats the output of `settings show`.
    static func report(of app: AppRecord, _ settings: [SettingRecord]) -> Report {
        let token = app.deviceToken.isEmpty ? "none, because \(withoutToken)" : app.deviceToken
        let facts = Table.fields(
            [
                ("App", app.appID), ("Name", shownName(of: app)), ("Topic", app.topic),
                ("Environment", app.environment),
                ("Device token", token), ("Badge count", "\(app.badge)"),
            ] + channels(of: app))
        let offers = app.offers.map { setting in
            """
            Do Not Disturb held back a notification because \(oneLine(setting)) is off. To allow such notifications:
              posthorn settings set \(oneLine(app.appID)) \(oneLine(setting)) on
            """
        }
        let text = ([facts, table(of: settings)] + offers).joined(separator: "\n\n")
        return Report(text, json: ShownApp(app: app, settings: settings))
    }

    /// Returns the app's name, after a remark if the app gave itself this name.
    private static func shownName(of app: AppRecord) -> String {
        app.isVerified ? app.name : "unverified: \(app.name)"
    }

    /// Formats settings as a table; the settings of event types follow those of the app.
    private static func table(of settings: [SettingRecord]) -> String {
        let hasEvents = settings.contains { !$0.event.isEmpty }
        return Table(
            (hasEvents ? [.text("EVENT")] : []) + [.text("SETTING"), .text("VALUE"), .text("")],
            rows: settings.map { line in
                (hasEvents ? [line.event] : []) + [line.name, shown(line.value, of: line.name), remark(on: line)]
            }
        ).text
    }

    /// Formats a value for display; the end of Do Not Disturb or of a mute becomes a local time.
    static func shown(_ value: String, of name: String) -> String {
        guard [.doNotDisturb, .muted].contains(Setting(rawValue: name)),
            let state = DoNotDisturb(value)?.current(at: LocalTime.now)
        else { return oneLine(value) }
        guard case .until(let end) = state else { return state.text }
        return "until \(LocalTime.text(end))"
    }

    /// Returns the origin of a value that the administrator set; empty for other values.
    private static func remark(on line: SettingRecord) -> String {
        if line.isLocked { return "set by the administrator" }
        return line.origin == "administrator" ? "the administrator's default" : ""
    }

    /// Returns one line for each channel.
    private static func channels(of app: AppRecord) -> [(name: String, value: String)] {
        guard !app.channels.isEmpty else { return [("Channels", "none")] }
        return app.channels.enumerated().map { index, channel in
            let isPending = app.pendingChannels.contains { $0.utf8.elementsEqual(channel.utf8) }
            return (
                index == 0 ? "Channels" : "", isPending ? "\(channel) (pending; the server is not connected)" : channel
            )
        }
    }

    private static func word(_ isOn: Bool) -> String { isOn ? "on" : "off" }
}

/// The JSON of `settings list`.
private struct Settings: Encodable, Sendable {
    let settings: [SettingRecord]
    let apps: [AppRecord]
}

/// The JSON of `settings show`.
private struct ShownApp: Encodable, Sendable {
    let app: AppRecord
    let settings: [SettingRecord]
}
