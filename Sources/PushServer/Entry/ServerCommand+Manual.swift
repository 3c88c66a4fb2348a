// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit

extension ServerCommand {
    /// The parts of the manual that the command line does not show, and the page of the configuration file.
    static let manual = Manual(
        section: 8,
        files: [
            Explanation(ServerConfiguration.defaultFile, "The configuration file; see posthornd.ini(5)."),
            Explanation(
                "/var/lib/posthorn", "The data directory of the system service: database, keys and certificates."),
            Explanation("/run/posthorn/admin.sock", "The admin socket of the system service, which posthorn(1) uses."),
        ],
        configuration: ConfigurationFile(
            "posthornd.ini", "Configuration of the push notification server posthornd.",
            paths: [ServerConfiguration.defaultFile],
            discussion: """
                The file has sections and lines of the form 'name = value'. Lines that start with # or ; are comments. No \
                setting is required, and neither is the file.

                Environment variables override the file, and options of posthornd(8) override both. Their names derive \
                from the name of the setting: data_directory is also POSTHORN_DATA_DIRECTORY and --data-directory.

                The server does not start if a line is invalid. 'posthornd --check-config' checks all settings, reports \
                errors with the file and the line, and exits.
                """,
            sections: sections),
        related: ["posthorn(1)", "posthorn-agent(1)"])

    /// The settings in the order of the sections, which is that of the sample file.
    private static var sections: [ConfigurationFile.Section] {
        var names: [String] = []
        for key in ConfigurationKey.allCases where !names.contains(key.section) { names.append(key.section) }
        return names.map { name in
            let keys = ConfigurationKey.allCases.filter { $0.section == name }
            return ConfigurationFile.Section(
                name,
                keys.map {
                    Explanation("\($0.rawValue) = \($0.placeholder)", "\($0.help) Default: \($0.defaultText).")
                })
        }
    }
}
