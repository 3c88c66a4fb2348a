// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The command `posthorn agent`: shows, enrols and unenrols this user's agent.
enum AgentCommands {
    static let group = CommandNode(
        group: "agent", "Show the agent's status, enrol this device with a server, or leave the server.",
        environment: sessionBus, unused: ofServer, children: [status, enrol, trustNode, unenrol], defaultChild: "status"
    )

    /// The option and the variable that only commands for the local server accept.
    static let ofServer = ["socket", AdminSocket.variable]

    static let sessionBus = [
        Explanation("DBUS_SESSION_BUS_ADDRESS", "The session bus of the agent."),
        Explanation(
            BusConnection.Bus.agentVariable,
            "The agent's bus, if it is not the session bus: 'system' for a system-wide agent."),
    ]

    private static let status = CommandNode(
        Command("status", "Show the state of the agent and of its connection to the server.")
    ) {
        (_, context) throws(CommandError) in
        let facts = try context.agent().call(AgentCall(.getStatus))
        return report(of: StatusRecord(try AgentAnswer.dictionary(facts, of: .getStatus)))
    }

    private static let enrol = CommandNode(
        Command(
            "enrol", "Enrol this device with a server.",
            discussion: """
                To create the code, run 'posthorn enrol' on the server; it also prints this command. A code of nine \
                groups contains the fingerprint of the server's CA. With a code of three groups, the device trusts the \
                system's CAs or those in --ca-file.
                """,
            arguments: [
                Argument("SERVER", "The server's URL, for example https://push.example.org:2197."),
                Argument("CODE", "The enrolment code; not needed if the server allows open enrolment.", optional: true),
            ],
            options: [
                Option(
                    "ca-file", value: "FILE",
                    "The server's CA certificate (PEM). Default: the CA that the code identifies, or the system's CAs.",
                    values: .file)
            ],
            examples: [
                Explanation("posthorn agent enrol https://push.example.org:2197 CODE", "Enrol this device.")
            ])
    ) { (invocation, context) throws(CommandError) in
        try checkOrder(invocation)
        if let file = invocation.value("ca-file") { try LocalFile.checkCertificate(file) }
        let agent = try context.agent()
        let answer: BusValue?
        do throws(CommandError) {
            answer = try agent.call(enrolCall(invocation))
        } catch {
            throw advice(on: error, server: invocation.arguments[0])
        }
        let id = try AgentAnswer.string(answer, of: .enrol)
        return Report("Enrolled as device \(oneLine(id)).", json: ["device_id": id])
    }

    private static let unenrol = CommandNode(
        Command(
            "unenrol", "Leave the server.",
            discussion: """
                All device tokens of this device become invalid (Unregistered), and badges are cleared. Apps and their \
                settings are kept. After the next enrolment, the agent registers the apps again and notifies each app that it \
                has a new device token.
                """,
            options: [
                Option("local", "Do not notify the server, for example because it no longer exists."),
                SharedOptions.yes,
            ],
            examples: [Explanation("posthorn agent unenrol --local", "Leave a server that no longer exists.")])
    ) { (invocation, context) throws(CommandError) in
        let agent = try context.agent()
        try Console.confirm(
            "Leave the server and invalidate all device tokens of this device?", unless: invocation.has("yes"))
        do throws(CommandError) {
            try agent.call(unenrolCall(invocation))
        } catch {
            throw adviceOnLeaving(error)
        }
        return Report("Left the server.", json: Done())
    }

    /// Builds the call of `agent unenrol`.
    static func unenrolCall(_ invocation: Invocation) -> AgentCall {
        AgentCall(invocation.has("local") ? .forget : .unenrol)
    }

    /// Checks that the server and the enrolment code are in the right order, and that the code is complete.
    ///
    /// - Parameter invocation: The command line, with one or two arguments.
    /// - Throws: An error when the arguments are swapped, the server is missing, or the code is invalid.
    static func checkOrder(_ invocation: Invocation) throws(CommandError) {
        let (server, code) = (invocation.arguments[0], invocation.argument(1))
        if let code, isServer(code), !isServer(server) {
            throw .advised(
                .usage(invocation.error(.contradiction("SERVER and CODE are swapped"))),
                remedy: "Use: posthorn agent enrol \(code) \(server)")
        }
        if let code, EnrolmentCode(typed: code) == nil {
            let expected = "use three or nine groups of four characters, such as K7QM-2XHD-9FPT"
            throw .usage(invocation.error(.badValue(of: "CODE", value: code, expected: expected)))
        }
        guard code == nil, !isServer(server), EnrolmentCode(typed: server) != nil else { return }
        throw .advised(
            .usage(invocation.error(.contradiction("'\(server)' is a code; SERVER is missing"))),
            remedy: "Use: posthorn agent enrol https://HOST:PORT \(server)")
    }

    private static func isServer(_ word: String) -> Bool { word.contains("://") }

    /// Adds a remedy to an error of `Enrol`, for example another CA certificate.
    static func advice(on error: CommandError, server: String) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        switch AgentFailure(busName: name) {
        case .agent(.badServer) where !server.contains("://"):
            return .advised(error, remedy: "Add https:// before the host name.")
        case .agent(.notTrusted):
            return .advised(
                error,
                remedy:
                    "Copy the complete code that 'posthorn enrol' printed, or specify the CA with --ca-file, and use "
                    + "a host name that the certificate contains.")
        default:
            return error
        }
    }

    /// Adds a remedy to an error of `Unenrol`, for example for a server that no longer exists.
    static func adviceOnLeaving(_ error: CommandError) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        switch AgentFailure(busName: name) {
        case .agent(.unreachable), .agent(.notTrusted):
            return .advised(
                error, remedy: "If the server no longer exists: posthorn agent unenrol --local")
        case .agent(.notEnrolled):
            return .reworded(error, problem: "this device is not enrolled")
        default:
            return error
        }
    }

    /// Builds the call of `agent enrol`.
    static func enrolCall(_ invocation: Invocation) -> AgentCall {
        AgentCall(
            .enrol, .string(invocation.arguments[0]), .string(invocation.argument(1) ?? ""),
            // The path must be absolute, because the agent has a different working directory.
            .string(invocation.value("ca-file").map(LocalFile.absolute) ?? ""))
    }

    /// Formats the output of `agent status`.
    static func report(of status: StatusRecord) -> Report {
        var fields = [
            (name: "Agent", value: "\(status.version), process \(status.processID)"),
            (name: "Enrolled", value: enrolment(of: status)),
        ]
        if status.isEnrolled {
            fields.append(("Server", status.serverURL))
            fields.append(("Device ID", status.deviceID))
            fields.append(("Connected", connection(of: status)))
        }
        fields.append(("Alerts shown by", presenter(of: status)))
        if let problem = ConnectionAdvice.text(on: status.problem, isEnrolled: status.isEnrolled) {
            fields.append(("Problem", problem))
        }
        if !status.lastError.isEmpty { fields.append(("Last error", status.lastError)) }
        if let nextTry = status.nextTryAt { fields.append(("Next retry", LocalTime.text(nextTry))) }
        if !status.notice.isEmpty { fields.append(("Notice", status.notice)) }
        return Report(
            Table.fields(fields, columnCountMax: Terminal.isUsed ? Terminal.columnCount : nil), json: status)
    }

    private static func presenter(of status: StatusRecord) -> String {
        switch status.presenter {
        case "", "none": "nothing; no notification server is running. Notifications are kept in the inbox."
        case "panel":
            "the panel, which shows only alerts of style 'alert'. No notification server is running, so banners are "
                + "kept in the inbox."
        case let names: names
        }
    }

    private static func enrolment(of status: StatusRecord) -> String {
        guard status.isEnrolled else { return "no; run 'posthorn agent enrol SERVER CODE'" }
        guard status.isRemoved else { return "yes" }
        return "no longer; the device was removed from the server. Run 'posthorn agent unenrol'."
    }

    private static func connection(of status: StatusRecord) -> String {
        if status.isConnected { return "since \(LocalTime.text(status.connectedSince ?? .unixEpoch))" }
        guard let last = status.lastConnectedAt else { return "no; never connected" }
        return "no; last \(LocalTime.text(last))"
    }
}
