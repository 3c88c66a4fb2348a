// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A `posthornd --ephemeral`: everything is made up at the start and gone at the end.
package final class EphemeralServer: Sendable {
    /// The process.
    package let process: RunningProcess
    private let files: TemporaryDirectory
    /// What it said of itself.
    package let line: Line
    /// Its admin API.
    package let admin: AdminSocket

    /// Starts it and waits until it is ready.
    ///
    /// - Parameters:
    ///   - topics: One `--topic` each.
    ///   - options: More options.
    /// - Throws: `UnexpectedOutput` when it ends instead, `DeadlinePassed` when it says nothing.
    package init(topics: [String] = ["org.example.Mail"], options: [String] = []) async throws {
        let arguments = ["--ephemeral"] + topics.flatMap { ["--topic", $0] } + options
        // What it leaves behind when it is killed goes with the test.
        files = try TemporaryDirectory()
        process = try RunningProcess(
            RepositoryPaths.program("posthornd"), arguments, environment: ["TMPDIR": files.path])
        let text = try await process.outputLine()
        line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
        admin = AdminSocket(path: line.adminSocket)
    }

    /// The first topic.
    package var topic: Topic { line.topics[0] }

    /// A variable of a server that was started with `--full`.
    package func variable(_ name: String) throws -> String {
        guard let value = line.variables?[name] else { throw UnknownVariable(name: name) }
        return value
    }

    /// `--full` did not give this variable.
    package struct UnknownVariable: Error {
        let name: String
    }

    /// What a provider needs.
    package var target: ProviderTarget {
        ProviderTarget(
            host: line.host, port: line.port, caFile: line.caFile, keyFile: line.keyFile, keyID: line.keyID,
            teamID: line.teamID, topic: topic.topic)
    }

    /// The one line of JSON that it prints once it is ready.
    package struct Line: Decodable, Sendable {
        /// Always 127.0.0.1.
        package let host: String
        /// The port for providers and devices.
        package let port: Int
        /// The authority to trust, PEM.
        package let caFile: String
        /// The signing key, .p8.
        package let keyFile: String
        /// Its key id.
        package let keyID: String
        /// Its team id.
        package let teamID: String
        /// The UNIX socket of the admin API.
        package let adminSocket: String
        /// One for each `--topic`.
        package let topics: [Topic]
        /// With `--full`: everything, by the names of shell variables.
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
        /// The topic.
        package let topic: String
        /// A device token that works.
        package let token: String
        /// A device token that is no longer registered.
        package let goneToken: String
        /// The device.
        package let deviceID: String
        /// Its secret.
        package let deviceSecret: String

        private enum CodingKeys: String, CodingKey {
            case topic, token
            case goneToken = "gone_token"
            case deviceID = "device_id"
            case deviceSecret = "device_secret"
        }
    }
}
