// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Every setting: its place in the file; its variable and its flag follow from the name.
///
/// docs/reference/configuration.md and deploy/posthornd.ini list the same, and a test compares.
package enum ConfigurationKey: String, CaseIterable, Sendable {
    case dataDirectory = "data_directory"
    case listen
    case names
    case certificateFile = "certificate_file"
    case privateKeyFile = "private_key_file"
    case adminSocket = "admin_socket"
    case loops
    case openEnrolment = "open_enrolment"
    case pendingPerTopic = "pending_per_topic"
    case logLevel = "log_level"

    /// The section of the file.
    package var section: String {
        switch self {
        case .dataDirectory, .listen, .names, .certificateFile, .privateKeyFile, .adminSocket, .loops, .logLevel:
            "server"
        case .openEnrolment, .pendingPerTopic: "devices"
        }
    }

    /// For example `POSTHORN_DATA_DIRECTORY`.
    package var variable: String { "POSTHORN_" + rawValue.uppercased() }

    /// For example `data-directory`.
    package var flag: String { rawValue.split(separator: "_").joined(separator: "-") }

    /// What stands for the value in `--help`.
    package var placeholder: String {
        switch self {
        case .dataDirectory: "DIR"
        case .listen: "HOST:PORT"
        case .names: "NAMES"
        case .certificateFile, .privateKeyFile: "FILE"
        case .adminSocket: "PATH"
        case .loops, .pendingPerTopic: "N"
        case .openEnrolment: "yes|no"
        case .logLevel: "LEVEL"
        }
    }

    /// One sentence for `--help` and the reference.
    package var help: String {
        switch self {
        case .dataDirectory: "Where everything lives that must survive; made with mode 0700 on first start."
        case .listen: "Address and port for providers and devices; * is every address, port 0 a free one."
        case .names: "DNS names and addresses for the server's own certificate, separated by blanks."
        case .certificateFile: "PEM certificate chain; without it the server's own authority issues one."
        case .privateKeyFile: "PEM private key of the certificate."
        case .adminSocket: "UNIX socket of the admin API."
        case .loops: "Threads that serve connections; one a core when not given."
        case .openEnrolment: "Whether devices may enrol without a code."
        case .pendingPerTopic: "Notifications of one app that wait for one device; the oldest are dropped first."
        case .logLevel: "The least important events that are logged: error, warning, info or debug."
        }
    }

    /// What holds without it.
    package var defaultText: String {
        switch self {
        case .dataDirectory: "/var/lib/posthorn for root, else ~/.local/share/posthorn/server"
        case .listen: "*:2197"
        case .names: "this host's name, localhost, 127.0.0.1 and ::1"
        case .certificateFile, .privateKeyFile: "made on first start"
        case .adminSocket: "admin.sock in $RUNTIME_DIRECTORY, else in the data directory"
        case .loops: "one a core"
        case .openEnrolment: "no"
        case .pendingPerTopic: "\(Limits.pendingPerTopicCountMax)"
        case .logLevel: "info"
        }
    }

    /// Puts a value into the configuration.
    ///
    /// - Parameters:
    ///   - text: The value as written.
    ///   - place: Where it was written, for the error.
    ///   - configuration: What it is put into.
    /// - Throws: What is wrong with the value, and what to write instead.
    func apply(_ text: String, from place: String, to configuration: inout ServerConfiguration)
        throws(ConfigurationError)
    {
        func refuse(_ remedy: String) -> ConfigurationError {
            ConfigurationError(place: place, problem: "\(rawValue) cannot be \"\(text)\".", remedy: remedy)
        }
        switch self {
        case .dataDirectory:
            guard text.hasPrefix("/") else { throw refuse("Give an absolute path, for example /var/lib/posthorn.") }
            configuration.dataDirectory = text
        case .listen:
            guard let (host, port) = Self.splitListen(text) else {
                throw refuse("Give HOST:PORT, for example *:2197, 127.0.0.1:2197 or [::1]:2197.")
            }
            (configuration.host, configuration.port) = (host, port)
        case .names: configuration.names = text.split(separator: " ").map(String.init)
        case .certificateFile: configuration.certificateFile = text
        case .privateKeyFile: configuration.privateKeyFile = text
        case .adminSocket: configuration.adminSocket = text
        case .loops:
            guard let count = Int(text), (1...256).contains(count) else { throw refuse("Give a number from 1 to 256.") }
            configuration.loopCount = count
        case .openEnrolment:
            guard let isOpen = Self.boolean(text) else { throw refuse("Write yes or no.") }
            configuration.hasOpenEnrolment = isOpen
        case .pendingPerTopic:
            guard let count = Int(text), (1...1_000_000).contains(count) else {
                throw refuse("Give a number from 1 to 1000000.")
            }
            configuration.pendingPerTopicCountMax = count
        case .logLevel:
            guard let level = EventLog.Level.allCases.first(where: { $0.word == text }) else {
                throw refuse("Write error, warning, info or debug.")
            }
            configuration.logLevel = level
        }
    }

    private static func boolean(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "on", "1": true
        case "no", "false", "off", "0": false
        default: nil
        }
    }

    /// Splits `host:port`; an IPv6 address stands in brackets.
    private static func splitListen(_ text: String) -> (String, UInt16)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        return host.isEmpty ? nil : (String(host), port)
    }
}
