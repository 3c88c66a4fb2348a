// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn app`: the apps that the server knows.
package enum AppCommands {
    static let group = CommandNode(
        group: "app", "Add, list, show and remove apps on the server.",
        discussion: """
            An app has a topic: the name by which back-ends send to it (apns-topic). Use the app's desktop file name \
            without '.desktop', for example org.example.Mail; then devices need not be told the topic.
            """,
        children: [add, list, show, remove])

    private static let topic = Argument("TOPIC", "The app's topic, for example org.example.Mail.")

    private static let add = CommandNode(
        Command(
            "add", "Add an app.", arguments: [topic],
            options: [
                Option("name", short: "n", value: "NAME", "What people call the app; the topic if left out."),
                Option("team", value: "TEAM", "The team that owns it; the server's own if left out."),
            ],
            examples: [Explanation("posthorn app add org.example.Mail --name Mail", "Adds an app called Mail.")])
    ) { (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(addRequest(invocation), for: AdminAPI.App.self))
    }

    private static let list = CommandNode(Command("list", "List the apps.")) {
        (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(.get("apps"), for: AdminAPI.Apps.self))
    }

    private static let show = CommandNode(Command("show", "Show an app.", arguments: [topic])) {
        (invocation, surroundings) throws(CommandError) in
        let request = AdminRequest.get("apps", invocation.arguments[0])
        return report(of: try surroundings.admin(invocation).send(request, for: AdminAPI.App.self))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove an app.",
            discussion: "Its device tokens become Unregistered, and notifications that wait for it are dropped.",
            arguments: [topic], options: [SharedOptions.yes])
    ) { (invocation, surroundings) throws(CommandError) in
        let topic = invocation.arguments[0]
        try Console.confirm("Remove \(topic) with all its device tokens?", unless: invocation.has("yes"))
        try surroundings.admin(invocation).send(.delete("apps", topic))
        return Report("Removed \(topic).", json: Done())
    }

    /// What `app add` asks of the server.
    package static func addRequest(_ invocation: Invocation) -> AdminRequest {
        .post(
            "apps",
            AdminAPI.NewApp(
                topic: invocation.arguments[0], name: invocation.value("name"), teamID: invocation.value("team")))
    }

    /// What `app add` and `app show` print.
    package static func report(of app: AdminAPI.App) -> Report {
        Report(
            Table.fields([
                ("Topic", app.topic), ("Name", app.name), ("Team ID", app.teamID),
                ("Registrations", "\(app.registrationCount)"), ("Pending", "\(app.pendingCount)"),
            ]), json: app)
    }

    /// What `app list` prints.
    package static func report(of apps: AdminAPI.Apps) -> Report {
        guard !apps.apps.isEmpty else { return Report("No apps yet. Add one: posthorn app add TOPIC", json: apps) }
        let table = Table(
            [.text("TOPIC"), .text("NAME"), .text("TEAM ID"), .number("REGISTRATIONS"), .number("PENDING")],
            rows: apps.apps.map { [$0.topic, $0.name, $0.teamID, "\($0.registrationCount)", "\($0.pendingCount)"] })
        return Report(table.text, json: apps)
    }
}
