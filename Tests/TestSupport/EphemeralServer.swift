// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A running `posthornd --ephemeral`, which generates its data at the start and deletes it at the end.
package final class EphemeralServer: Sendable {
    package let process: RunningProcess
    private let files: TemporaryDirectory
    /// The JSON line that the server printed about itself.
    package let line: Line
    package let admin: AdminSocket

    /// Starts the server and waits until it is ready.
    ///
    /// - Parameters:
    ///   - topics: The topics, one `--topic` option each.
    ///   - options: Additional options.
    /// - Throws: `UnexpectedOutput` when it exits instead, `DeadlinePassed` when it prints nothing.
    package init(topics: [String] = ["org.example.Mail"], options: [String] = []) async throws {
        // An ephemeral server does not read the environment variable of the log level.
        let level = options.contains("--log-level") ? [] : ["--log-level", "debug"]
        let arguments = ["--ephemeral"] + topics.flatMap { ["--topic", $0] } + level + options
        // Files that a killed server leaves behind are deleted with this directory.
        files = try TemporaryDirectory()
        process = try RunningProcess(
            RepositoryPaths.program("posthornd"), arguments, environment: ["TMPDIR": files.path])
        let text = try await process.outputLine()
        line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        admin = AdminSocket(path: line.adminSocket)
        for topic in line.topics {
            SecretWords.add("a device secret", topic.deviceSecret)
            SecretWords.add("a device token", topic.token)
        }
    }

    package var topic: Topic { line.topics[0] }

    /// Returns a variable of a server that was started with `--full`.
    package func variable(_ name: String) throws -> String {
        guard let value = line.variables?[name] else { throw UnknownVariable(name: name) }
        return value
    }

    /// The error for a variable that the server did not print.
    package struct UnknownVariable: Error {
        let name: String
    }

    /// The data that a provider needs to send to the first topic.
    package var target: ProviderTarget {
        ProviderTarget(
            host: line.host, port: line.port, caFile: line.caFile, keyFile: line.keyFile, keyID: line.keyID,
            teamID: line.teamID, topic: topic.topic)
    }

    /// The JSON line that the server prints when it is ready.
    package struct Line: Decodable, Sendable {
        /// The host, always 127.0.0.1.
        package let host: String
        /// The port for providers and devices.
        package let port: Int
        /// The path of the certificate authority to trust, PEM.
        package let caFile: String
        /// The path of the signing key, .p8.
        package let keyFile: String
        /// The key ID of the signing key.
        package let keyID: String
        /// The team ID of the signing key.
        package let teamID: String
        /// The path of the admin API's UNIX socket.
        package let adminSocket: String
        /// The topics, one for each `--topic`.
        package let topics: [Topic]
        /// All values by the names of shell variables; nil without `--full`.
        package let variables: [String: String]?

        private enum CodingKeys: String, CodingKey {
            case host, port, topics, variables
            case caFile = "ca_file"
            case keyFile = "key_file"
            case keyID = "key_id"
            case teamID = "team_id"
            case adminSocket = "admin_socket"
        }
    }

    /// A topic with its built-in device.
    package struct Topic: Decodable, Sendable {
        package let topic: String
        /// A device token that is registered.
        package let token: String
        /// A device token that is no longer registered.
        package let goneToken: String
        package let deviceID: String
        package let deviceSecret: String

        private enum CodingKeys: String, CodingKey {
            case topic, token
            case goneToken = "gone_token"
            case deviceID = "device_id"
            case deviceSecret = "device_secret"
        }
    }
}
