// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The commands `posthorn register` and `posthorn unregister`, for apps that do not use D-Bus.
enum RegisterCommands {
    static let app = Argument("APP", "The app ID: the name of its desktop file without '.desktop'.")

    static let register = CommandNode(
        Command(
            "register", "Register an app on this device and print its device token.",
            discussion: """
                The app's back-end sends notifications to the device token. Registering a registered app again prints \
                the same token. A token is valid in one environment only. For a development token, the back-end must \
                use the server's port or name for development.
                """,
            arguments: [app],
            options: [
                Option("topic", short: "t", value: "TOPIC", "The app's topic on the server. Default: the app ID."),
                Option(
                    "name", short: "n", value: "NAME", "The display name. Default: the name in the desktop file."),
                Option(
                    "environment", short: "e", value: "ENVIRONMENT",
                    "production or development. Default: production.",
                    values: .choice(Environment.allCases.map(\.rawValue))),
                Option(
                    "manifest", short: "m", value: "FILE",
                    "The app manifest in JSON; - for standard input. Default: the manifest that the app installed.",
                    values: .file),
            ],
            examples: [
                Explanation("TOKEN=$(posthorn register org.example.Mail)", "Store the device token in a variable."),
                Explanation("posthorn register org.example.Backup --manifest backup.json", "Register a script."),
            ],
            environment: AgentCommands.sessionBus)
    ) { (invocation, context) throws(CommandError) in
        let call = try registerCall(invocation)
        let appID = invocation.arguments[0]
        let agent = try context.agent()
        let token: String
        do throws(CommandError) {
            token = try AgentAnswer.string(try agent.call(call), of: .register)
        } catch {
            throw advised(error, invocation, context)
        }
        // The registration succeeded, so an error while reading the advice is ignored.
        let advice = (try? SettingsCommands.apps(of: agent))?.first { $0.appID == appID }?.advice ?? []
        Console.note(advice.map { oneLine($0) })
        return report(appID: appID, token: token, advice: advice)
    }

    static let unregister = CommandNode(
        Command(
            "unregister",
            "Unregister an app: its device token becomes invalid, and its notifications and settings are removed.",
            arguments: [app], options: [SharedOptions.yes],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, context) throws(CommandError) in
        let id = try appID(invocation)
        let agent = try context.agent()
        try Console.confirm(
            "Unregister \(id), and remove its notifications and settings?", unless: invocation.has("yes"))
        try agent.call(AgentCall(.unregister, .string(id)))
        return Report("Unregistered \(id).", json: Done())
    }

    /// Builds the call of `register`.
    ///
    /// - Parameter invocation: The command line, with the app ID.
    /// - Returns: The call.
    /// - Throws: An error when the app ID is a path or file name, or the manifest cannot be read.
    static func registerCall(_ invocation: Invocation) throws(CommandError) -> AgentCall {
        var options = ["topic", "name", "environment"].compactMap { name in
            invocation.value(name).map { (name, BusValue.string($0)) }
        }
        if let path = invocation.value("manifest") { options.append(("manifest", .string(try manifest(path)))) }
        return AgentCall(.register, .string(try appID(invocation)), .dictionary(options))
    }

    /// Suggests the closest known topic if this user can query a server on this machine.
    private static func advised(
        _ error: CommandError, _ invocation: Invocation, _ context: CommandContext
    ) -> CommandError {
        guard case .agentRefused(let name, _) = error, AgentFailure(busName: name) == .agent(.unknownTopic),
            let apps = try? context.admin(invocation).send(.get("apps"), for: AdminAPI.Apps.self)
        else { return error }
        let topic = invocation.value("topic") ?? invocation.arguments[0]
        guard let meant = Spelling.closest(to: topic, among: apps.apps.map(\.topic.text)) else { return error }
        return .advised(error, remedy: "Did you mean '\(meant)'? See 'posthorn app list'.")
    }

    private static func manifest(_ path: String) throws(CommandError) -> String {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        // D-Bus strings are UTF-8 without NUL. An empty manifest would mean that there is none.
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty, !bytes.contains(0) else {
            throw .badFile(
                path: path, problem: "not UTF-8 text", remedy: "Specify an app manifest in JSON.")
        }
        return text
    }

    /// Returns the app ID from the command line; throws when it is a path or a file name.
    static func appID(_ invocation: Invocation) throws(CommandError) -> String {
        let word = invocation.arguments[0]
        guard !word.hasSuffix(".desktop"), !word.utf8.contains(UInt8(ascii: "/")) else {
            let expected = "use the name of the desktop file, without '.desktop'"
            throw .usage(invocation.error(.badValue(of: "APP", value: word, expected: expected)))
        }
        return word
    }

    /// Formats the output of `register`, which is only the device token, for scripts.
    static func report(appID: String, token: String, advice: [String]) -> Report {
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
