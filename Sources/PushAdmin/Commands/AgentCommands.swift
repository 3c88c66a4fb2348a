// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn agent`: this person's agent and its server.
package enum AgentCommands {
    static let group = CommandNode(
        group: "agent", "Show the agent of this device, enrol it with a server, or leave.",
        environment: sessionBus, unused: ofServer, children: [status, enrol, unenrol], defaultChild: "status")

    /// What only commands that talk to a server on this machine take.
    static let ofServer = ["socket", AdminSocket.variable]

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
            discussion: """
                'posthorn enrol' on the server prints the code and this command. A code of nine groups names the authority \
                of the server's certificate; with one of three, the system's authorities are trusted, or those of --ca-file.
                """,
            arguments: [
                Argument("SERVER", "The server's URL, for example https://push.example.org:2197."),
                Argument("CODE", "The enrolment code; left out where the server lets everybody in.", optional: true),
            ],
            options: [
                Option(
                    "ca-file", value: "FILE", "The server's authority, PEM; by the code, or the system's, if left out.",
                    values: .file)
            ],
            examples: [
                Explanation("posthorn agent enrol https://push.example.org:2197 CODE", "Enrols.")
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        try checkOrder(invocation)
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
            discussion: """
                Every device token of this device becomes Unregistered, and the numbers on icons go. Apps stay with their \
                settings: enrolled again, the agent registers them by itself, and each hears of its new device token.
                """,
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

    /// Finds the enrolment code where the server belongs.
    ///
    /// - Parameter invocation: With one word or two.
    /// - Throws: When the words are swapped, or the server is missing.
    package static func checkOrder(_ invocation: Invocation) throws(CommandError) {
        let (server, code) = (invocation.arguments[0], invocation.argument(1))
        if let code, isServer(code), !isServer(server) {
            throw .advised(
                .usage(invocation.error(.contradiction("server and code are swapped"))),
                remedy: "The server comes first: posthorn agent enrol \(code) \(server)")
        }
        guard code == nil, !isServer(server), isCode(server) else { return }
        throw .advised(
            .usage(invocation.error(.contradiction("'\(server)' is a code, and the server is missing"))),
            remedy: "The server comes first: posthorn agent enrol https://HOST:PORT \(server)")
    }

    private static func isServer(_ word: String) -> Bool { word.contains("://") }

    /// As `posthorn enrol` prints it, three groups of four, or as people type that.
    private static func isCode(_ word: String) -> Bool {
        let letters = word.utf8.filter { $0 != UInt8(ascii: "-") }
        return letters.count == 12
            && letters.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            }
    }

    /// What else there is to do when enrolling failed: this command can name another authority.
    package static func advice(on error: CommandError, server: String) -> CommandError {
        guard case .agentRefused(let name, _) = error else { return error }
        switch AgentFailure(busName: name) {
        case .badServer where !server.contains("://"):
            return .advised(error, remedy: "Write https:// in front.")
        case .notTrusted:
            return .advised(
                error,
                remedy: "Copy the whole code that 'posthorn enrol' printed, or name the authority with --ca-file, and "
                    + "use a host name of the certificate.")
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
        case .notEnrolled:
            return .advised(error, remedy: "There is nothing to leave.")
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
            (name: "Enrolled", value: enrolment(of: status)),
        ]
        if status.enrolled {
            fields.append(("Server", status.serverURL))
            fields.append(("Device ID", status.deviceID))
            fields.append(("Connected", connection(of: status)))
        }
        fields.append(("Alerts shown by", presenter(of: status)))
        if !status.lastError.isEmpty { fields.append(("Last trouble", status.lastError)) }
        if status.nextTry > 0 { fields.append(("Next try", LocalTime.text(unixSeconds: status.nextTry))) }
        if !status.notice.isEmpty { fields.append(("Notice", status.notice)) }
        return Report(Table.fields(fields), json: status)
    }

    private static func presenter(of status: AgentStatus) -> String {
        switch status.presenter {
        case "", "none": "nothing: no notification server runs; the inbox keeps them"
        case "panel": "panel, those of style alert; no notification server runs; the inbox keeps the others"
        case let names: names
        }
    }

    private static func enrolment(of status: AgentStatus) -> String {
        guard status.enrolled else { return "no; next: posthorn agent enrol SERVER CODE" }
        guard status.removed else { return "yes" }
        return "no longer: the server does not know this device any more; next: posthorn agent unenrol"
    }

    private static func connection(of status: AgentStatus) -> String {
        if status.connected { return "since \(LocalTime.text(unixSeconds: status.connectedSince))" }
        guard status.lastConnected > 0 else { return "no, and never was" }
        return "no; last at \(LocalTime.text(unixSeconds: status.lastConnected))"
    }
}
