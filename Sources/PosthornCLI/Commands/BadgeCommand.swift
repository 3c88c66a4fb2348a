// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import CommandLineKit
internal import PushCore
internal import PushDBus

/// The command `posthorn badge`: prints badge numbers, for status bars without app icons.
enum BadgeCommand {
    /// The output format.
    enum Format: String, CaseIterable, Sendable {
        case plain, waybar, polybar, json
    }

    static let node = CommandNode(
        Command(
            "badge", "Print the badge number of an app, or the sum for all apps.",
            discussion: """
                Formats: plain prints the number. polybar prints the number, or an empty line for 0, which hides the \
                module. waybar prints JSON with a tooltip of one line per app and the class 'unread', 'none' or \
                'offline'. json prints the number of each app.

                While the agent is not running, --follow prints an empty line (plain, polybar) or null (json).
                """,
            arguments: [Argument("APP", "The app ID. Default: all apps.", optional: true)],
            options: [
                Option(
                    "format", short: "f", value: "FORMAT", "The output format. Default: plain.",
                    values: .choice(Format.allCases.map(\.rawValue))),
                Option("follow", "Print a line at each change until interrupted."),
            ],
            examples: [
                Explanation("posthorn badge org.example.Mail", "Print the badge of Mail."),
                Explanation("posthorn badge --format waybar --follow", "For a custom module of waybar."),
            ],
            environment: AgentCommands.sessionBus, unused: AgentCommands.ofServer)
    ) { (invocation, context) throws(CommandError) in
        let format = invocation.has("json") ? .json : Format(rawValue: invocation.value("format") ?? "") ?? .plain
        let agent = try context.agent()
        if invocation.has("follow") { try follow(agent, app: invocation.argument(0), format) }
        let badges = try badges(of: agent, app: invocation.argument(0))
        if let app = invocation.argument(0), badges.isEmpty {
            throw SettingsCommands.unknownApp(app, known: try SettingsCommands.apps(of: agent).map(\.appID))
        }
        return Report(line(badges, format), json: Badges(badges))
    }

    private static func follow(_ agent: AgentClient, app: String?, _ format: Format) throws(CommandError) -> Never {
        let listener = try AgentListener(agent, to: [.badgeChanged, .settingsChanged])
        var printed: String?
        while true {
            var now: [AppRecord]?
            do throws(CommandError) {
                now = try badges(of: agent, app: app)
            } catch {
                guard case .agentUnreachable = error else { throw error }
            }
            let text = line(now, format)
            if printed != text { _ = try Console.write("\(text)\n") }
            printed = text
            _ = try listener.wait()
        }
    }

    private static func badges(of agent: AgentClient, app: String?) throws(CommandError) -> [AppRecord] {
        let apps = try AgentAnswer.list(try agent.call(AgentCall(.listApps)), of: .listApps, as: AppRecord.self)
        guard let app else { return apps }
        return apps.filter { $0.appID.utf8.elementsEqual(app.utf8) }
    }

    /// Formats the badges as one line.
    ///
    /// - Parameters:
    ///   - apps: The apps to count; nil while the agent is not running.
    ///   - format: The output format.
    /// - Returns: The line, without a line feed.
    static func line(_ apps: [AppRecord]?, _ format: Format) -> String {
        let sum = (apps ?? []).reduce(Int64(0)) { $0 + Int64($1.badge) }
        switch format {
        case .plain: return apps == nil ? "" : "\(sum)"
        case .polybar: return sum > 0 ? "\(sum)" : ""
        case .json: return JSONText.printable(JSONText.encodeKnown(apps.map(Badges.init)))
        case .waybar:
            // Waybar parses both texts as markup.
            let lines = (apps ?? []).filter { $0.badge > 0 }.map {
                "\(DisplayText.markup(oneLine($0.name), scalarCountMax: 64)): \($0.badge)"
            }
            let bar = WaybarText(
                text: sum > 0 ? "\(sum)" : "", tooltip: lines.joined(separator: "\n"),
                class: apps == nil ? "offline" : sum > 0 ? "unread" : "none")
            return JSONText.printable(JSONText.encodeKnown(bar))
        }
    }
}

/// The JSON that waybar's custom modules read.
private struct WaybarText: Encodable {
    let text: String
    let tooltip: String
    let `class`: String
}

/// The JSON of `badge`.
private struct Badges: Encodable, Sendable {
    let count: Int64
    let apps: [String: UInt32]

    init(_ apps: [AppRecord]) {
        count = apps.reduce(0) { $0 + Int64($1.badge) }
        self.apps = Dictionary(apps.map { ($0.appID, $0.badge) }, uniquingKeysWith: { first, _ in first })
    }
}
