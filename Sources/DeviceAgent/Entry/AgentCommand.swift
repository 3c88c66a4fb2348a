// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushDBus
internal import PushNet

/// The command line of `posthorn-agent`.
enum AgentCommand {
    /// The grammar of the command line, from which completions and the manual are generated, too.
    static let command = Command(
        "posthorn-agent", "Device agent: receives and shows the notifications of one user.",
        discussion: """
            The agent runs in the user's session. It keeps a connection to the server, stores notifications in the inbox, \
            and shows them through the desktop's notification service, or on the terminal if there is no desktop. Apps \
            and 'posthorn' use its D-Bus interface org.posthorn.Agent1 on the session bus.

            No configuration is necessary; run 'posthorn agent enrol SERVER CODE' to enrol. For unattended enrolment, the \
            section [server] of the configuration file has the settings url, ca_file, enrolment_code, name, stream, \
            proxy, client_cert and client_key. The last three also apply after a manual enrolment.

            Programs named hooks/APPID or hooks/any next to agent.ini, or in /etc/posthorn, run for each alert, with the \
            notification as JSON on standard input.
            """,
        options: [
            Option(
                "config", value: "FILE", "Read this file instead of $XDG_CONFIG_HOME/posthorn/agent.ini.", values: .file
            ),
            Option("terminal", "Print alerts to standard output, even if there is a desktop."),
        ],
        examples: [
            Explanation("posthorn-agent", "Run in the session, like the service unit."),
            Explanation("posthorn-agent --terminal", "Show notifications on this terminal."),
        ],
        environment: AgentConfigurationKey.allCases.map { Explanation($0.variable, $0.help + ".") } + [
            Explanation(
                BusConnection.Bus.agentVariable,
                "The bus to use instead of the session bus: 'system' or a D-Bus address; disables the desktop."),
            Explanation(MessageCatalog.folderVariable, MessageCatalog.folderHelp + "."),
            Explanation(
                "XDG_STATE_HOME",
                "The base directory of posthorn/ with the inbox, settings and secret (~/.local/state)."),
            Explanation("XDG_CONFIG_HOME", "The base directory of posthorn/agent.ini (~/.config)."),
        ],
        exitCodes: AgentExit.allCases.map { Explanation("\($0.rawValue)", $0.meaning) }, manual: manual)
}

/// The exit status of the process; taken from sysexits.h where that has a matching one.
enum AgentExit: Int32, CaseIterable, Sendable {
    case stopped = 0
    case usage = 64
    case busLost = 69
    case internalFailure = 70
    case storageFailed = 74
    case alreadyRunning = 75
    case badConfiguration = 78

    /// The description in `--help`.
    var meaning: String {
        switch self {
        case .stopped: "Stopped by SIGTERM or SIGINT."
        case .usage: "Usage error."
        case .busLost: "The connection to the session bus was lost; the service manager restarts the agent."
        case .internalFailure: "A system call failed."
        case .storageFailed: "The agent's files are not usable, or the disk failed."
        case .alreadyRunning: "Another agent of this user is running."
        case .badConfiguration: "The configuration file or an environment variable is invalid."
        }
    }
}
