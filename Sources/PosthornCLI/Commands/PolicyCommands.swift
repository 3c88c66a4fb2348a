// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn policy`: sets default or locked settings for devices.
enum PolicyCommands {
    static let group = CommandNode(
        group: "policy", "Manage default and locked settings of devices.",
        discussion: """
            A policy sets the default of a setting on devices; users can change it unless it is locked. Connected \
            devices apply a policy within seconds, others when they reconnect.
            """,
        children: [list, set, remove], defaultChild: "list")

    private static let every = "*"
    private static let scope: OptionTable = [
        Option("topic", short: "t", value: "TOPIC", "The topic of the app. Default: all apps."),
        Option("device", short: "d", value: "ID", "The device ID. Default: all devices."),
    ]
    private static let setting = Argument(
        "SETTING", "The name of a setting, for example 'sound'.",
        values: .choice(Setting.allCases.map(\.rawValue)))

    private static let list = CommandNode(Command("list", "List the policies.")) {
        (invocation, context) throws(CommandError) in
        report(of: try context.admin(invocation).send(.get("policies"), for: AdminAPI.Policies.self))
    }

    private static let set = CommandNode(
        Command(
            "set", "Set a policy.",
            discussion: Setting.allCases.map { setting in
                "\(setting.rawValue): \(setting.help). Values: \(setting.expectation(for: setting.policyScope))."
            }.joined(separator: "\n\n"),
            arguments: [setting, Argument("VALUE", "The value.")],
            options: scope + [Option("lock", short: "l", "Do not let users change the setting.")],
            examples: [
                Explanation(
                    "posthorn policy set --topic org.example.Ops alert alert --lock",
                    "Keep alerts of Ops on the screen."),
                Explanation(
                    "posthorn policy set schedule 'mon-fri 18:00-08:00'", "Do not disturb in the evening, by default."),
                Explanation("posthorn policy set --device 5f2b9c0d1e3a4f60 silent on", "Mute one device."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let request = try setRequest(invocation)
        return report(
            of: try context.admin(invocation).send(
                request, for: AdminAPI.Policies.self, about: invocation.values("topic").map { TopicName($0) }))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Remove a policy; the user's choice or the default applies again.",
            arguments: [setting], options: scope)
    ) { (invocation, context) throws(CommandError) in
        let place = place(invocation)
        let request = AdminRequest.delete("policies", place.device, place.topic, invocation.arguments[0])
        return report(of: try context.admin(invocation).send(request, for: AdminAPI.Policies.self))
    }

    /// Builds the request of `policy set`.
    ///
    /// - Parameter invocation: The command line, with a setting and its value.
    /// - Returns: The request.
    /// - Throws: An error when the setting does not accept the value.
    static func setRequest(_ invocation: Invocation) throws(CommandError) -> AdminRequest {
        let place = place(invocation)
        let (name, value) = (invocation.arguments[0], invocation.arguments[1])
        if let setting = Setting(rawValue: name), setting.normalized(value, for: setting.policyScope) == nil {
            let expected = "use \(setting.expectation(for: setting.policyScope))"
            throw .usage(invocation.error(.badValue(of: name, value: value, expected: expected)))
        }
        return .put(
            "policies", place.device, place.topic, name,
            body: NewPolicy(value: value, locked: invocation.has("lock")))
    }

    private static func place(_ invocation: Invocation) -> (device: String, topic: String) {
        (invocation.value("device") ?? every, invocation.value("topic") ?? every)
    }

    /// Formats the output of the commands.
    static func report(of policies: AdminAPI.Policies) -> Report {
        guard !policies.rules.isEmpty else {
            return Report("No policies. Set one with 'posthorn policy set SETTING VALUE'.", json: policies)
        }
        let table = Table(
            [.text("DEVICE"), .text("TOPIC"), .text("SETTING"), .text("VALUE"), .text("LOCKED")],
            rows: policies.rules.map { rule in
                [rule.device ?? every, rule.topic?.text ?? every, rule.setting, rule.value, rule.locked ? "yes" : "no"]
            })
        return Report(table.text, json: policies)
    }
}

/// The body of `PUT /v1/policies/…`.
private struct NewPolicy: Encodable {
    let value: String
    let locked: Bool
}
