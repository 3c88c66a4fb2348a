// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit

extension AgentCommand {
    /// The parts of the manual that the command line does not show, and the page of the configuration file.
    static let manual = Manual(
        section: 1,
        files: [
            Explanation("~/.config/posthorn/agent.ini", "The configuration file; see posthorn-agent.ini(5)."),
            Explanation("~/.config/posthorn/hooks", "The programs that run for alerts, by the name of the app."),
            Explanation("/etc/posthorn/hooks", "The same for all users."),
            Explanation("~/.local/state/posthorn", "The inbox, the settings and the device secret."),
            Explanation("/var/lib/posthorn-agent", "The same for the agent of a whole machine."),
        ],
        configuration: ConfigurationFile(
            "posthorn-agent.ini", "Configuration of the device agent posthorn-agent.",
            paths: ["~/.config/posthorn/agent.ini", "/etc/posthorn/agent.ini"],
            discussion: """
                The file is for machines that enrol unattended; users run 'posthorn agent enrol' instead. The agent of a user \
                reads the file in the home directory, and the agent of a whole machine reads the one in /etc.

                The file has the section [server] with lines of the form 'name = value'. No setting is required, and neither \
                is the file. Environment variables override it: url is also POSTHORN_AGENT_URL.
                """,
            sections: [
                ConfigurationFile.Section(
                    "server",
                    AgentConfigurationKey.allCases.map { Explanation("\($0.rawValue) = VALUE", "\($0.help).") })
            ]),
        related: ["posthorn(1)", "posthorn-panel(1)", "posthornd(8)"])
}
