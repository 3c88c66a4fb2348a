// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushDBus
internal import PushNet

/// The command line of `posthorn-agent`.
package enum AgentCommand {
    /// What it understands; completions and the manual are made from the same table.
    package static let command = Command(
        "posthorn-agent", "The device agent: receives notifications for all apps of one person and shows them.",
        discussion: """
            Started by the session, it keeps one connection to the server, keeps what comes in an inbox, and shows it by \
            the desktop's notification service, or on a terminal where there is no desktop. Apps and 'posthorn' talk to \
            it as org.posthorn.Agent1 on the session bus.

            It needs no configuration: 'posthorn agent enrol SERVER CODE' makes a device of this account. Where nobody \
            is there to type that, the file says it: section [server] with url, ca_file, enrolment_code, name, \
            stream, proxy, client_cert and client_key. The last three hold for a person's enrolment, too.

            Programs called hooks/APPID or hooks/any beside agent.ini, or below /etc/posthorn, run for each alert, with the \
            notification as JSON on standard input.
            """,
        options: [
            Option(
                "config", value: "FILE", "Read this file instead of $XDG_CONFIG_HOME/posthorn/agent.ini.", values: .file
            ),
            Option("terminal", "Print alerts to standard output, even where a desktop could show them."),
        ],
        examples: [
            Explanation("posthorn-agent", "Run in the session, as the service unit does."),
            Explanation("posthorn-agent --terminal", "Watch notifications on this terminal."),
        ],
        environment: AgentSetting.allCases.map { Explanation($0.variable, $0.help + ".") } + [
            Explanation(
                BusConnection.Bus.agentVariable,
                "Answer on another bus than the session's: 'system', or a D-Bus address; there is no desktop then."),
            Explanation(MessageCatalogue.folderVariable, MessageCatalogue.folderHelp + "."),
            Explanation("XDG_STATE_HOME", "Where inbox, settings and secret lie, below posthorn/ (~/.local/state)."),
            Explanation("XDG_CONFIG_HOME", "Where posthorn/agent.ini lies (~/.config)."),
        ],
        exitCodes: AgentExit.allCases.map { Explanation("\($0.rawValue)", $0.meaning) })
}

/// What the process ends with; from sysexits.h where that has a word for it.
package enum AgentExit: Int32, CaseIterable, Sendable {
    case stopped = 0
    case usage = 64
    case busLost = 69
    case internalFailure = 70
    case storageFailed = 74
    case alreadyRunning = 75
    case badConfiguration = 78

    /// For `--help`.
    package var meaning: String {
        switch self {
        case .stopped: "Stopped by SIGTERM or SIGINT."
        case .usage: "The command line is wrong."
        case .busLost: "The session bus went away; the service manager starts the agent again."
        case .internalFailure: "The system refused something that the agent needs."
        case .storageFailed: "The agent's files cannot be used, or the disk failed."
        case .alreadyRunning: "Another agent of this person runs."
        case .badConfiguration: "The configuration file or a variable is wrong."
        }
    }
}
