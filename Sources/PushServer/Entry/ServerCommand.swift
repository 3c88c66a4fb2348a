// SPDX-License-Identifier: Apache-2.0

package import CommandLineKit
internal import PushCore
internal import PushNet
internal import PushTLS

/// The command line of `posthornd`.
package enum ServerCommand {
    /// A task that the command line requests.
    package enum Request: Sendable {
        /// Print a text and exit.
        case print(String)
        /// Check the whole database, which no server may be using.
        case check(ServerConfiguration)
        /// Check whether this backup can be restored.
        case checkBackup(String)
        /// Replace the contents of the data directory by a backup.
        case restore(ServerConfiguration, from: String)
        /// Copy the store to another database.
        case migrate(ServerConfiguration, from: StoreAddress?, to: StoreAddress)
        /// Prepare a cluster, or this machine for a cluster that exists.
        case initCluster(ServerConfiguration)
        /// Run the server with this configuration.
        case run(ServerConfiguration)
    }

    /// Parses the command line.
    ///
    /// - Parameters:
    ///   - arguments: The arguments without the program's name.
    ///   - environment: The environment variables of the process.
    /// - Returns: The requested task.
    /// - Throws: The invalid argument, variable or setting, and what to do about it.
    package static func parse(_ arguments: [String], environment: [String: String]) throws(CommandLineError) -> Request
    {
        let request: CommandRequest
        do throws(UsageError) { request = try command.parse(arguments).get() } catch {
            throw CommandLineError(exitStatus: 64, text: "posthornd: \(error.message)\n\(error.remedy)")
        }
        switch request {
        // The entry point ends the text with a newline.
        case .help(let text): return .print(text.hasSuffix("\n") ? String(text.dropLast()) : text)
        case .version: return .print("posthornd \(ProductVersion.text)")
        case .run(let invocation): return try configure(invocation, environment)
        }
    }

    private static func configure(
        _ invocation: Invocation, _ environment: [String: String]
    ) throws(CommandLineError) -> Request {
        do throws(ConfigurationError) {
            try refuseTwoTasks(invocation)
            // The machine that holds a backup may have no server.
            if let backup = invocation.value("check-backup") { return .checkBackup(backup) }
            let flags = ConfigurationKey.allCases.compactMap { key in
                invocation.value(key.flag).map { (key: key, value: $0) }
            }
            let isEphemeral = invocation.has("ephemeral")
            let file = invocation.value("config")
            let read: @Sendable () throws(ConfigurationError) -> ServerConfiguration = {
                () throws(ConfigurationError) in
                try ServerConfiguration(
                    file: file, flags: flags, environment: isEphemeral ? [:] : environment, isRoot: ProcessFacts.isRoot,
                    readsDefaultFile: !isEphemeral)
            }
            var configuration = try read()
            if !isEphemeral { configuration.read = read }
            if isEphemeral {
                try configuration.makeEphemeral(
                    topics: invocation.values("topic").map { TopicName($0) }, port: try port(of: invocation),
                    isFull: invocation.has("full"), environmentFile: invocation.value("env-file"), flags: flags,
                    parentDirectory: environment["TMPDIR"])
            } else if let option = ["topic", "port", "full", "env-file"].first(where: invocation.has) {
                throw ConfigurationError(
                    place: "--\(option)", problem: "requires --ephemeral.",
                    remedy: "Add --ephemeral, or use --listen for the port and 'posthorn app add' for topics.")
            }
            if invocation.has("check") { return .check(configuration) }
            if invocation.has("init-cluster") { return .initCluster(configuration) }
            if let backup = invocation.value("restore") { return .restore(configuration, from: backup) }
            if let (source, target) = try StoreAddress.migration(invocation) {
                return .migrate(configuration, from: source, to: target)
            }
            guard invocation.has("check-config") else { return .run(configuration) }
            let note = try checkFiles(of: configuration)
            return .print(["The configuration is valid.", note].compactMap { $0 }.joined(separator: "\n"))
        } catch {
            // A mistake on the command line is a usage error; a mistake in a file or variable is a configuration error.
            let exitStatus: Int32 = error.place.hasPrefix("--") ? 64 : 78
            throw CommandLineError(exitStatus: exitStatus, text: "posthornd: \(error.description)")
        }
    }

    /// Refuses more than one task, and a task together with `--ephemeral`.
    private static func refuseTwoTasks(_ invocation: Invocation) throws(ConfigurationError) {
        let tasks = ["check", "check-backup", "restore", "migrate", "init-cluster"].filter(invocation.has)
        guard let option = tasks.first else { return }
        guard !invocation.has("ephemeral") else {
            throw ConfigurationError(
                place: "--\(option)", problem: "cannot be combined with --ephemeral.",
                remedy: "Remove --ephemeral, and specify the data directory with --data-directory.")
        }
        guard tasks.count == 1 else {
            throw ConfigurationError(
                place: "--\(option)", problem: "cannot be combined with --\(tasks[1]).",
                remedy: "Remove one of the two; --restore checks the backup before it changes anything.")
        }
    }

    /// Reads the configured files in the same way as the running server.
    ///
    /// - Parameter configuration: The configuration.
    /// - Returns: A warning about a certificate that expires soon; nil for any other certificate.
    /// - Throws: The file that is invalid, or the certificate that expired.
    private static func checkFiles(of configuration: ServerConfiguration) throws(ConfigurationError) -> String? {
        if let path = configuration.webhookAuthorityFile {
            do throws(TLSError) { try AuthorityFile.check(path) } catch {
                throw ConfigurationError(
                    place: "webhook_ca_file", problem: error.description,
                    remedy: "Specify CA certificates in PEM, or remove the setting to trust the system's CAs.")
            }
        }
        do throws(TLSError) {
            try ClientAuthorities(ownFile: nil, otherFiles: configuration.clientAuthorityFiles).check()
        } catch {
            throw ConfigurationError(
                place: "client_ca_files", problem: error.description, remedy: "Specify CA certificates in PEM.")
        }
        guard let certificate = configuration.certificateFile, let key = configuration.privateKeyFile else {
            return nil
        }
        let seconds: Int64
        do throws(TLSError) {
            _ = try TLSContext(certificateChainFile: certificate, privateKeyFile: key)
            let chain = (try? PrivateFile.read(certificate)) ?? []
            seconds = try CertificateAuthority.secondsUntilExpiry(certificate: chain)
        } catch {
            throw ConfigurationError(
                place: "certificate_file, private_key_file", problem: error.description,
                remedy: "Specify a certificate chain and the matching private key in PEM.")
        }
        let end = EventLog.timeText(unixSeconds: Timestamp.now.unixSeconds + seconds)
        guard seconds > 0 else {
            throw ConfigurationError(
                place: "certificate_file", problem: "the certificate in \(certificate) expired at \(end).",
                remedy: "Renew the certificate.")
        }
        guard CertificateValidity.due(seconds: seconds) != nil else { return nil }
        return "The certificate in \(certificate) expires at \(end). Renew it."
    }

    private static func port(of invocation: Invocation) throws(ConfigurationError) -> UInt16 {
        guard let text = invocation.value("port") else { return 0 }
        guard let port = UInt16(text) else {
            throw ConfigurationError(
                place: "--port", problem: "invalid value '\(text)'.", remedy: "Use a number from 0 to 65535.")
        }
        return port
    }

    package static let command = Command(
        "posthornd", "Push notification server that is compatible with APNs.",
        discussion: """
            Without options, the server listens on port 2197 and keeps its data in the data directory. On first start it \
            creates a database, keys, a CA and a certificate there.

            Options override the environment, and the environment overrides \(ServerConfiguration.defaultFile). SIGHUP \
            reloads the configuration and the certificate. SIGUSR2 checks the program's file with --check-config, and then \
            replaces the process with this file, but keeps the listening sockets. SIGTERM finishes open requests, commits, \
            and exits.
            """,
        options: OptionTable(
            [
                Option(
                    "config", value: "FILE", "Read this configuration file instead of the default one.", values: .file),
                Option("check-config", "Check options, environment and configuration file, report errors, and exit."),
                Option("check", "Check the database while no server uses it, report errors, and exit."),
                Option(
                    "check-backup", value: "DIRECTORY",
                    "Check that a backup is complete and can be restored, report errors, and exit.",
                    values: .directory),
                Option(
                    "restore", value: "DIRECTORY",
                    "Restore a backup to the data directory, keep the old files aside, and exit. Stop the server that uses "
                        + "the data directory first.",
                    values: .directory),
                Option(
                    "migrate", value: "ADDRESS",
                    "Copy the store to PostgreSQL (postgresql://USER@HOST/DATABASE) or to a new database in a directory "
                        + "(sqlite:DIRECTORY), compare, and exit. Stop the server or all nodes first."),
                Option(
                    "from", value: "ADDRESS",
                    "With --migrate: the store to copy. Default: the database in the data directory."),
                Option(
                    "init-cluster",
                    "Create tables, keys and authority of a cluster in PostgreSQL, or get those of a cluster that exists, "
                        + "and exit."),
                Option(
                    "ephemeral", "Run a temporary server for tests on the loopback address, and print one line of JSON."
                ),
                Option(
                    "topic", value: "TOPIC",
                    "With --ephemeral: add an app with a built-in device that acknowledges its notifications.",
                    repeatable: true),
                Option("port", value: "N", "With --ephemeral: the port. Default: a free port."),
                Option(
                    "full",
                    "With --ephemeral: create further keys, tokens, certificates, ports and channels, to test the complete "
                        + "provider API."),
                Option(
                    "env-file", value: "FILE",
                    "With --ephemeral: write the same values as shell variables to this file, before the line of JSON.",
                    values: .file),
            ]
                + ConfigurationKey.allCases.map { key in
                    Option(key.flag, value: key.placeholder, key.help)
                }),
        examples: [
            Explanation("posthornd", "Run with default settings."),
            Explanation("posthornd --data-directory /srv/posthorn --listen '*:443'", "Use another directory and port."),
            Explanation(
                "posthornd --ephemeral --topic com.example.MyApp",
                "Run a server for tests; its line of JSON has the connection parameters."),
        ],
        environment: ConfigurationKey.allCases.map { Explanation($0.variable, $0.help) },
        exitCodes: [
            Explanation("0", "Stopped normally."),
            Explanation("64", "Usage error."),
            Explanation("65", "The database, the backup or a copied table is damaged or incomplete."),
            Explanation("69", "PostgreSQL cannot be reached, or reported an error."),
            Explanation("71", "A system call failed, for example because the port is in use."),
            Explanation(
                "73",
                "The data directory cannot be created or written, the target of a copy is not empty, or several databases "
                    + "would be copied."),
            Explanation("74", "The disk failed; no accepted notification is lost. Restart the server."),
            Explanation(
                "75",
                "Another server uses the data directory, PostgreSQL or the name of the node, or the node was removed."),
            Explanation(
                "78", "The configuration is invalid or does not match the cluster's, or a library is too old."),
        ],
        manual: manual)
}

/// A command-line error that is ready to print.
package struct CommandLineError: Error, Sendable {
    /// The exit status, from sysexits.h.
    package var exitStatus: Int32
    /// The problem and what to do about it, on separate lines.
    package var text: String
}
