// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn app`: manages the server's apps.
enum AppCommands {
    static let group = CommandNode(
        group: "app", "Manage the apps on the server.",
        discussion: """
            Back-ends address an app by its topic (apns-topic). Use the name of the app's desktop file without \
            '.desktop' as the topic, for example org.example.Mail; then devices need no further configuration.
            """,
        children: [add, set, list, show, remove], defaultChild: "list")

    private static let topic = Argument("TOPIC", "The app's topic, for example org.example.Mail.")

    /// Returns the options that `add` and `set` share; the help texts differ in what an omitted option means.
    private static func settings(whenLeftOut: (checks: String, broadcasts: String)) -> OptionTable {
        [
            Option(
                "checks", value: "MODE",
                "Payload checks: off, warn (report findings) or strict (also refuse payloads with errors)."
                    + whenLeftOut.checks,
                values: .choice(PayloadChecks.allCases.map(\.rawValue))),
            Option(
                "broadcasts", value: "STATE", "Allow broadcast channels: on or off.\(whenLeftOut.broadcasts)",
                values: .choice(["on", "off"])),
        ]
    }

    private static let add = CommandNode(
        Command(
            "add", "Add an app.", arguments: [topic],
            options: [
                Option("name", short: "n", value: "NAME", "The display name. Default: the topic."),
                Option(
                    "team", value: "TEAM",
                    "The team that owns the app; a new ID creates the team. Default: the server's team."),
            ] + settings(whenLeftOut: (" Default: warn.", " Default: off.")),
            examples: [
                Explanation("posthorn app add org.example.Mail --name Mail", "Add an app named Mail."),
                Explanation("posthorn app add org.example.News --broadcasts on", "Add an app that may have channels."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let client = context.admin(invocation)
        let request = addRequest(invocation)
        return report(
            of: try TeamCommands.notingNewTeam(invocation.value("team"), of: client) { () throws(CommandError) in
                try client.send(request, for: AdminAPI.App.self)
            })
    }

    private static let set = CommandNode(
        Command(
            "set", "Change an app.",
            discussion: """
                Options that are not given leave the setting unchanged. '--broadcasts off' removes all channels of the \
                app with their subscriptions, in both environments.
                """,
            arguments: [topic],
            options: [Option("name", short: "n", value: "NAME", "The display name.")]
                + settings(whenLeftOut: ("", "")) + webhookOptions + [SharedOptions.yes],
            examples: [
                Explanation("posthorn app set org.example.Mail --checks strict", "Refuse payloads with errors."),
                Explanation("posthorn app set org.example.News --broadcasts on", "Allow channels."),
                Explanation(
                    "posthorn app set org.example.Mail --webhook https://mail.example.org/events",
                    "Send delivery events to the back-end."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let topic = TopicName(invocation.arguments[0])
        let changesWebhook = try changesWebhook(invocation)
        let request = changesWebhook && !changesOther(invocation) ? nil : try changeRequest(invocation)
        if invocation.value("broadcasts") == "off" {
            try Console.confirm("Remove all channels of \(topic)?", unless: invocation.has("yes"))
        }
        let client = context.admin(invocation)
        let app = try request.map { request throws(CommandError) in
            try client.send(request, for: AdminAPI.App.self, about: [topic])
        }
        guard let app, !changesWebhook else { return report(of: try changeWebhook(invocation, client)) }
        return report(of: app)
    }

    /// Returns whether the command line changes anything besides the webhook.
    private static func changesOther(_ invocation: Invocation) -> Bool {
        ["name", "checks", "broadcasts"].contains(where: invocation.has)
    }

    private static let list = CommandNode(Command("list", "List the apps.")) {
        (invocation, context) throws(CommandError) in
        report(of: try context.admin(invocation).send(.get("apps"), for: AdminAPI.Apps.self))
    }

    private static let show = CommandNode(Command("show", "Show an app.", arguments: [topic])) {
        (invocation, context) throws(CommandError) in
        let topic = TopicName(invocation.arguments[0])
        let client = context.admin(invocation)
        return report(of: try client.send(.get("apps", topic.text), for: AdminAPI.App.self, about: [topic]))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove an app.",
            discussion:
                "The app's device tokens become invalid (Unregistered), and its pending notifications are removed.",
            arguments: [topic], options: [SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let topic = TopicName(invocation.arguments[0])
        try Console.confirm("Remove app \(topic) and invalidate all its device tokens?", unless: invocation.has("yes"))
        try context.admin(invocation).send(.delete("apps", topic.text), about: [topic])
        return Report("Removed \(topic).", json: Done())
    }

    /// Builds the request of `app add`.
    static func addRequest(_ invocation: Invocation) -> AdminRequest {
        .post(
            "apps",
            AdminAPI.NewApp(
                topic: TopicName(invocation.arguments[0]), name: invocation.value("name"),
                teamID: invocation.value("team"),
                checks: checks(invocation), broadcasts: broadcasts(invocation)))
    }

    /// Builds the request of `app set`.
    ///
    /// - Parameter invocation: The command line, with the topic and the changes.
    /// - Returns: The request.
    /// - Throws: An error when the command line changes nothing.
    static func changeRequest(_ invocation: Invocation) throws(CommandError) -> AdminRequest {
        let change = AdminAPI.AppChange(
            name: invocation.value("name"), checks: checks(invocation), broadcasts: broadcasts(invocation))
        guard change.name != nil || change.checks != nil || change.broadcasts != nil else {
            throw .advised(
                .usage(invocation.error(.contradiction("nothing to change"))),
                remedy: "Specify --name, --checks, --broadcasts, --webhook or --no-webhook.")
        }
        return .patch("apps", invocation.arguments[0], body: change)
    }

    private static func checks(_ invocation: Invocation) -> PayloadChecks? {
        invocation.value("checks").flatMap(PayloadChecks.init)
    }

    private static func broadcasts(_ invocation: Invocation) -> Bool? {
        invocation.value("broadcasts").map { $0 == "on" }
    }

    /// Formats the output of `app add`, `app set` and `app show`.
    static func report(of app: AdminAPI.App) -> Report {
        Report(
            Table.fields(
                [
                    ("Topic", app.topic.text), ("Name", app.name), ("Team ID", app.teamID),
                    ("Checks", app.checks.rawValue), ("Broadcasts", app.broadcasts ? "on" : "off"),
                    ("Registrations", "\(app.registrationCount)"), ("Pending", "\(app.pendingCount)"),
                ] + (app.webhook.map(fields) ?? [])), json: app)
    }

    /// Formats the output of `app list`.
    static func report(of apps: AdminAPI.Apps) -> Report {
        guard !apps.apps.isEmpty else { return Report("No apps. Add one with 'posthorn app add TOPIC'.", json: apps) }
        let table = Table(
            [
                .text("TOPIC"), .text("NAME"), .text("TEAM ID"), .text("CHECKS"), .text("BROADCASTS"),
                .number("REGISTRATIONS"), .number("PENDING"),
            ],
            rows: apps.apps.map { app in
                [
                    app.topic.text, app.name, app.teamID, app.checks.rawValue, app.broadcasts ? "on" : "off",
                    "\(app.registrationCount)", "\(app.pendingCount)",
                ]
            })
        return Report(table.text, json: apps)
    }
}
