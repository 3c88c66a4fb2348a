// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus

/// `posthorn register` and `posthorn unregister`: for apps that do not speak D-Bus themselves.
package enum RegisterCommands {
    static let app = Argument("APP", "The app id: its desktop file name without '.desktop'.")

    static let register = CommandNode(
        Command(
            "register", "Register an app on this device and print its device token.",
            discussion: """
                The device token is the address that the app's back-end sends to. Registering again gives the same \
                one while the app stays registered. A token is good in one environment: a back-end in development sends \
                to the server's port or name for development.
                """,
            arguments: [app],
            options: [
                Option("topic", short: "t", value: "TOPIC", "The app's topic on the server; the app id if left out."),
                Option(
                    "name", short: "n", value: "NAME", "What to call the app; what its desktop file says if left out."),
                Option(
                    "environment", short: "e", value: "ENVIRONMENT",
                    "production, or development; production if left out.",
                    values: .choice(Environment.allCases.map(\.rawValue))),
                Option(
                    "manifest", short: "m", value: "FILE",
                    "What the app says of itself, as JSON (- for standard input); what it installed if left out.",
                    values: .file),
            ],
            examples: [
                Explanation("TOKEN=$(posthorn register org.example.Mail)", "Keeps the device token."),
                Explanation("posthorn register org.example.Backup --manifest backup.json", "Registers a script."),
            ],
            environment: AgentCommands.sessionBus)
    ) { (invocation, surroundings) throws(CommandError) in
        let call = try registerCall(invocation)
        let appID = invocation.arguments[0]
        let agent = try surroundings.agent()
        let token: String
        do throws(CommandError) {
            token = try AgentAnswer.string(try agent.call(call), of: "Register")
        } catch {
            throw advised(error, invocation, surroundings)
        }
        // It is registered, whether there is more to say or not.
        let advice = (try? SettingsCommands.apps(of: agent))?.first { $0.appID == appID }?.advice ?? []
        Console.note(advice.map { oneLine($0) })
        return report(appID: appID, token: token, advice: advice)
    }

    static let unregister = CommandNode(
        Command(
            "unregister", "Unregister an app: its device token is Unregistered from now on.", arguments: [app],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, surroundings) throws(CommandError) in
        let id = try appID(invocation)
        try surroundings.agent().call(AgentCall("Unregister", .string(id)))
        return Report("Unregistered \(id).", json: Done())
    }

    /// What `register` asks of the agent.
    ///
    /// - Parameter invocation: With the app id.
    /// - Returns: The call.
    /// - Throws: When a path or a file name stands where an app id belongs, or the manifest cannot be read.
    package static func registerCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        var options = ["topic", "name", "environment"].compactMap { name in
            invocation.value(name).map { (name, BusValue.string($0)) }
        }
        if let path = invocation.value("manifest") { options.append(("manifest", .string(try manifest(path)))) }
        return AgentCall("Register", .string(try appID(invocation)), .dictionary(options))
    }

    /// Names the topic; where the server is on this machine and lets this person ask, also the one that was meant.
    private static func advised(
        _ error: CommandError, _ invocation: Invocation, _ surroundings: Surroundings
    ) -> CommandError {
        guard case .agentRefused(let name, _) = error, AgentFailure(busName: name) == .unknownTopic,
            let apps = try? surroundings.admin(invocation).send(.get("apps"), for: AdminAPI.Apps.self)
        else { return error }
        let topic = invocation.value("topic") ?? invocation.arguments[0]
        guard let meant = Spelling.closest(to: topic, among: apps.apps.map(\.topic)) else { return error }
        return .advised(error, remedy: "Did you mean \(meant)? 'posthorn app list' shows all on the server.")
    }

    private static func manifest(_ path: String) throws(CommandError) -> String {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        // A text on the bus ends at NUL, and is UTF-8; an empty one would be as if there was none.
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty, !bytes.contains(0) else {
            throw .badFile(
                path: path, problem: "no text in UTF-8",
                remedy: "Name a file with what the app says of itself, as JSON.")
        }
        return text
    }

    /// The app id of the command line, when it is not a path or a file name.
    static func appID(_ invocation: Invocation) throws(CommandError) -> String {
        let word = invocation.arguments[0]
        guard !word.hasSuffix(".desktop"), !word.utf8.contains(UInt8(ascii: "/")) else {
            let expected = "the desktop file's name alone, without '.desktop'"
            throw .usage(invocation.error(.badValue(of: "APP", value: word, expected: expected)))
        }
        return word
    }

    /// What `register` prints: the device token alone, for scripts.
    package static func report(appID: String, token: String, advice: [String]) -> Report {
        Report(oneLine(token), json: Registration(appID: appID, deviceToken: token, advice: advice))
    }

    private struct Registration: Encodable {
        let appID: String
        let deviceToken: String
        let advice: [String]

        private enum CodingKeys: String, CodingKey {
            case advice
            case appID = "app_id"
            case deviceToken = "device_token"
        }
    }
}
