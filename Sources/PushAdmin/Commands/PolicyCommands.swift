// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn policy`: what devices are to do, whatever their persons choose or until they choose.
package enum PolicyCommands {
    static let group = CommandNode(
        group: "policy", "Show and set what holds on the devices of this server.",
        discussion: """
            A policy is what holds until the person at a device chooses otherwise; with --lock, what they cannot change. \
            Connected devices follow within seconds, others when they come back.
            """,
        children: [list, set, remove], defaultChild: "list")

    private static let every = "*"
    private static let scope: OptionTable = [
        Option("topic", short: "t", value: "TOPIC", "For one app, by its topic; for every app when left out."),
        Option("device", short: "d", value: "ID", "For one device, by its id; for every device when left out."),
    ]
    private static let setting = Argument(
        "SETTING", "The name of a setting, such as 'sound'.",
        values: .choice(PersonalSetting.allCases.map(\.rawValue)))

    private static let list = CommandNode(Command("list", "List the policies.")) {
        (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(.get("policies"), for: AdminAPI.Policies.self))
    }

    private static let set = CommandNode(
        Command(
            "set", "Set what holds on devices.",
            discussion: PersonalSetting.allCases.map { setting in
                "\(setting.rawValue): \(setting.help.lowercasedFirst); \(setting.expectation(for: setting.policyScope))."
            }.joined(separator: "\n"),
            arguments: [setting, Argument("VALUE", "What holds.")],
            options: scope + [Option("lock", short: "l", "Persons cannot change it.")],
            examples: [
                Explanation(
                    "posthorn policy set --topic org.example.Ops alert alert --lock", "Alarms stay on screens."),
                Explanation("posthorn policy set schedule 'mon-fri 18:00-08:00'", "Quiet evenings, unless changed."),
                Explanation("posthorn policy set --device 5f2b9c0d1e3a4f60 silent on", "No sounds on one device."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let request = setRequest(invocation)
        let client = surroundings.admin(invocation)
        return report(of: try client.send(request, for: AdminAPI.Policies.self))
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Take a policy back: what persons chose, or what is standard, holds again.",
            arguments: [setting], options: scope)
    ) { (invocation, surroundings) throws(CommandError) in
        let place = place(invocation)
        let request = AdminRequest.delete("policies", place.device, place.topic, invocation.arguments[0])
        return report(of: try surroundings.admin(invocation).send(request, for: AdminAPI.Policies.self))
    }

    /// What `policy set` asks of the server.
    ///
    /// - Parameter invocation: With a setting and its value.
    /// - Returns: The request.
    package static func setRequest(_ invocation: Invocation) -> AdminRequest {
        let place = place(invocation)
        return .put(
            "policies", place.device, place.topic, invocation.arguments[0],
            body: NewPolicy(value: invocation.arguments[1], locked: invocation.has("lock")))
    }

    private static func place(_ invocation: Invocation) -> (device: String, topic: String) {
        (invocation.value("device") ?? every, invocation.value("topic") ?? every)
    }

    /// What the commands print.
    package static func report(of policies: AdminAPI.Policies) -> Report {
        guard !policies.rules.isEmpty else {
            return Report("No policies. Set one: posthorn policy set SETTING VALUE", json: policies)
        }
        let table = Table(
            [.text("DEVICE"), .text("TOPIC"), .text("SETTING"), .text("VALUE"), .text("LOCKED")],
            rows: policies.rules.map { rule in
                [rule.device ?? every, rule.topic ?? every, rule.setting, rule.value, rule.locked ? "yes" : "no"]
            })
        return Report(table.text, json: policies)
    }
}

/// The body of `PUT /v1/policies/…`.
private struct NewPolicy: Encodable {
    let value: String
    let locked: Bool
}

extension String {
    /// The text with a small letter first, for the middle of a sentence.
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
