// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn agent`: this person's agent and its server.
package enum AgentCommands {
    static let group = CommandNode(
        group: "agent", "Show the agent of this device, enrol it with a server, or leave.",
        environment: sessionBus, children: [status, enrol, unenrol], defaultChild: "status")

    static let sessionBus = [
        Explanation("DBUS_SESSION_BUS_ADDRESS", "The session bus on which the agent is."),
        Explanation(
            BusConnection.Bus.agentVariable, "Another bus on which it is: 'system' for a machine's own agent."),
    ]

    private static let status = CommandNode(Command("status", "Show how the agent is.")) {
        (_, surroundings) throws(CommandError) in
        let facts = try surroundings.agent().call(AgentCall("GetStatus"))
        return report(of: AgentStatus(try AgentAnswer.dictionary(facts, of: "GetStatus")))
    }

    private static let enrol = CommandNode(
        Command(
            "enrol", "Enrol this device with a server.",
            discussion: "'posthorn enrol' on the server prints the code and this command.",
            arguments: [
                Argument("SERVER", "The server's URL, for example https://push.example.org:2197."),
                Argument("CODE", "The enrolment code; left out where the server lets everybody in.", optional: true),
            ],
            options: [
                Option(
                    "ca-file", value: "FILE", "The server's authority, PEM; the system's if left out.", values: .file)
            ],
            examples: [
                Explanation("posthorn agent enrol https://push.example.org:2197 CODE --ca-file ca.pem", "Enrols.")
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        if let file = invocation.value("ca-file") { try LocalFile.checkCertificate(file) }
        let agent = try surroundings.agent()
        let answer: BusValue?
        do throws(CommandError) {
            answer = try agent.call(enrolCall(invocation))
        } catch {
            throw advice(on: error, server: invocation.arguments[0])
        }
        let id = try AgentAnswer.string(answer, of: "Enrol")
        return Report("Enrolled as device \(oneLine(id)).", json: ["device_id": id])
    }

    private static let unenrol = CommandNode(
        Command(
            "unenrol", "Leave the server.",
            discussion: "Every device token of this device becomes Unregistered: apps must register again.",
            options: [Option("local", "Forget the server without telling it."), SharedOptions.yes],
            examples: [Explanation("posthorn agent unenrol --local", "Leaves a server that is gone for good.")])
    ) { (invocation, surroundings) throws(CommandError) in
        let agent = try surroundings.agent()
        try Console.confirm("Leave the server, with all device tokens of this device?", unless: invocation.has("yes"))
        do throws(CommandError) {
            try agent.call(unenrolCall(invocation))
        } catch {
            throw adviceOnLeaving(error)
        }
        return Report("This device left its server.", json: Done())
    }

    /// What `agent unenrol` asks of the agent.
    package static func unenrolCall(_ invocation: Invocation) -> AgentCall {
        AgentCall(invocation.has("local") ? "Forget" : "Unenrol")
    }

    /// What else there is to do when enrolling failed: this command can name another authority.
    package static func advice(on error: CommandError, server: String) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        switch AgentFailure(busName: name) {
        case .badServer where !server.contains("://"):
            return .advised(error, remedy: "Write https:// in front.")
        case .notTrusted:
            return .advised(
                error, remedy: "Name the server's authority with --ca-file, and use a host name of its certificate.")
        default:
            return error
        }
    }

    /// What else there is to do when leaving failed: the server may be gone for good.
    package static func adviceOnLeaving(_ error: CommandError) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        switch AgentFailure(busName: name) {
        case .unreachable, .notTrusted:
            return .advised(
                error, remedy: "If the server is gone, forget it without telling it: posthorn agent unenrol --local")
        default:
            return error
        }
    }

    /// What `agent enrol` asks of the agent.
    package static func enrolCall(_ invocation: Invocation) -> AgentCall {
        AgentCall(
            "Enrol", .string(invocation.arguments[0]), .string(invocation.argument(1) ?? ""),
            // The agent has another working directory.
            .string(invocation.value("ca-file").map(LocalFile.absolute) ?? ""))
    }

    /// What `agent status` prints.
    package static func report(of status: AgentStatus) -> Report {
        var fields = [
            (name: "Agent", value: "\(status.version), process \(status.processID)"),
            (name: "Enrolled", value: status.enrolled ? "yes" : "no; next: posthorn agent enrol SERVER CODE"),
        ]
        if status.enrolled {
            fields.append(("Server", status.serverURL))
            fields.append(("Device ID", status.deviceID))
            fields.append(("Connected", connection(of: status)))
        }
        let hasPresenter = !["", "none"].contains(status.presenter)
        fields.append(
            (
                "Alerts shown by",
                hasPresenter ? status.presenter : "nothing: no notification server runs; the inbox keeps them"
            ))
        if !status.lastError.isEmpty { fields.append(("Last trouble", status.lastError)) }
        if status.nextTry > 0 { fields.append(("Next try", LocalTime.text(unixSeconds: status.nextTry))) }
        if !status.notice.isEmpty { fields.append(("Notice", status.notice)) }
        return Report(Table.fields(fields), json: status)
    }

    private static func connection(of status: AgentStatus) -> String {
        if status.connected { return "since \(LocalTime.text(unixSeconds: status.connectedSince))" }
        guard status.lastConnected > 0 else { return "no, and never was" }
        return "no; last at \(LocalTime.text(unixSeconds: status.lastConnected))"
    }
}
