// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn app`: the apps that the server knows.
package enum AppCommands {
    static let group = CommandNode(
        group: "app", "Add, change, list, show and remove apps on the server.",
        discussion: """
            An app has a topic: the name by which back-ends send to it (apns-topic). Use the app's desktop file name \
            without '.desktop', for example org.example.Mail; then devices need not be told the topic.
            """,
        children: [add, set, list, show, remove], defaultChild: "list")

    private static let topic = Argument("TOPIC", "The app's topic, for example org.example.Mail.")

    /// The options of `add`, or of `set`, where what is left out stays.
    private static func settings(whenLeftOut: (checks: String, broadcasts: String)) -> OptionTable {
        [
            Option(
                "checks", value: "HOW",
                "How payloads are judged: off, warn (tells what it finds) or strict (also refuses errors)"
                    + "\(whenLeftOut.checks).",
                values: .choice(PayloadChecks.allCases.map(\.rawValue))),
            Option(
                "broadcasts", value: "STATE", "Whether the app may have channels: on or off\(whenLeftOut.broadcasts).",
                values: .choice(["on", "off"])),
        ]
    }

    private static let add = CommandNode(
        Command(
            "add", "Add an app.", arguments: [topic],
            options: [
                Option("name", short: "n", value: "NAME", "What people call the app; the topic if left out."),
                Option("team", value: "TEAM", "The team that owns it; the server's own if left out."),
            ] + settings(whenLeftOut: ("; warn if left out", "; off if left out")),
            examples: [
                Explanation("posthorn app add org.example.Mail --name Mail", "Adds an app called Mail."),
                Explanation("posthorn app add org.example.News --broadcasts on", "Adds one that may have channels."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(addRequest(invocation), for: AdminAPI.App.self))
    }

    private static let set = CommandNode(
        Command(
            "set", "Change an app.",
            discussion: """
                What is left out stays as it is. Switching broadcasts off removes the app's channels, in both \
                environments, with their subscriptions.
                """,
            arguments: [topic],
            options: [Option("name", short: "n", value: "NAME", "What people call the app.")]
                + settings(whenLeftOut: ("", "")) + webhookOptions + [SharedOptions.yes],
            examples: [
                Explanation("posthorn app set org.example.Mail --checks strict", "Refuses payloads with errors."),
                Explanation("posthorn app set org.example.News --broadcasts on", "Lets it have channels."),
                Explanation(
                    "posthorn app set org.example.Mail --webhook https://mail.example.org/events",
                    "Tells its back-end what becomes of notifications."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let topic = invocation.arguments[0]
        let changesWebhook = try changesWebhook(invocation)
        let request = changesWebhook && !changesOther(invocation) ? nil : try changeRequest(invocation)
        if invocation.value("broadcasts") == "off" {
            try Console.confirm("Remove all channels of \(topic)?", unless: invocation.has("yes"))
        }
        let client = surroundings.admin(invocation)
        let app = try request.map { request throws(CommandError) in
            try client.send(request, for: AdminAPI.App.self, about: [topic])
        }
        guard let app, !changesWebhook else { return report(of: try changeWebhook(invocation, client)) }
        return report(of: app)
    }

    /// Whether something beside the webhook is to change.
    private static func changesOther(_ invocation: Invocation) -> Bool {
        ["name", "checks", "broadcasts"].contains(where: invocation.has)
    }

    private static let list = CommandNode(Command("list", "List the apps.")) {
        (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(.get("apps"), for: AdminAPI.Apps.self))
    }

    private static let show = CommandNode(Command("show", "Show an app.", arguments: [topic])) {
        (invocation, surroundings) throws(CommandError) in
        let topic = invocation.arguments[0]
        let client = surroundings.admin(invocation)
        return report(of: try client.send(.get("apps", topic), for: AdminAPI.App.self, about: [topic]))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove an app.",
            discussion: "Its device tokens become Unregistered, and notifications that wait for it are dropped.",
            arguments: [topic], options: [SharedOptions.yes])
    ) { (invocation, surroundings) throws(CommandError) in
        let topic = invocation.arguments[0]
        try Console.confirm("Remove \(topic) with all its device tokens?", unless: invocation.has("yes"))
        try surroundings.admin(invocation).send(.delete("apps", topic), about: [topic])
        return Report("Removed \(topic).", json: Done())
    }

    /// What `app add` asks of the server.
    package static func addRequest(_ invocation: Invocation) -> AdminRequest {
        .post(
            "apps",
            AdminAPI.NewApp(
                topic: invocation.arguments[0], name: invocation.value("name"), teamID: invocation.value("team"),
                checks: checks(invocation), broadcasts: broadcasts(invocation)))
    }

    /// What `app set` asks of the server.
    ///
    /// - Parameter invocation: With the topic and what is to change.
    /// - Returns: The request.
    /// - Throws: When nothing is to change.
    package static func changeRequest(_ invocation: Invocation) throws(CommandError) -> AdminRequest {
        let change = AdminAPI.AppChange(
            name: invocation.value("name"), checks: checks(invocation), broadcasts: broadcasts(invocation))
        guard change.name != nil || change.checks != nil || change.broadcasts != nil else {
            throw .advised(
                .usage(invocation.error(.contradiction("there is nothing to change"))),
                remedy: "Add --name, --checks, --broadcasts, --webhook or --no-webhook.")
        }
        return .patch("apps", invocation.arguments[0], body: change)
    }

    private static func checks(_ invocation: Invocation) -> PayloadChecks? {
        invocation.value("checks").flatMap(PayloadChecks.init)
    }

    private static func broadcasts(_ invocation: Invocation) -> Bool? {
        invocation.value("broadcasts").map { $0 == "on" }
    }

    /// What `app add`, `app set` and `app show` print.
    package static func report(of app: AdminAPI.App) -> Report {
        Report(
            Table.fields(
                [
                    ("Topic", app.topic), ("Name", app.name), ("Team ID", app.teamID),
                    ("Checks", app.checks.rawValue), ("Broadcasts", app.broadcasts ? "on" : "off"),
                    ("Registrations", "\(app.registrationCount)"), ("Pending", "\(app.pendingCount)"),
                ] + (app.webhook.map(fields) ?? [])), json: app)
    }

    /// What `app list` prints.
    package static func report(of apps: AdminAPI.Apps) -> Report {
        guard !apps.apps.isEmpty else { return Report("No apps yet. Add one: posthorn app add TOPIC", json: apps) }
        let table = Table(
            [
                .text("TOPIC"), .text("NAME"), .text("TEAM ID"), .text("CHECKS"), .text("BROADCASTS"),
                .number("REGISTRATIONS"), .number("PENDING"),
            ],
            rows: apps.apps.map { app in
                [
                    app.topic, app.name, app.teamID, app.checks.rawValue, app.broadcasts ? "on" : "off",
                    "\(app.registrationCount)", "\(app.pendingCount)",
                ]
            })
        return Report(table.text, json: apps)
    }
}
