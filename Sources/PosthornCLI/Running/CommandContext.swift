// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit

/// The environment in which a command runs.
package struct CommandContext: Sendable {
    let environment: [String: String]
    /// Whether the effective user is root.
    let isRoot: Bool

    /// Returns the environment variable; nil if it is unset or empty.
    func variable(_ name: String) -> String? {
        guard let value = environment[name], !value.isEmpty else { return nil }
        return value
    }

    /// Creates a client of the admin API, on the socket that the command line or the environment names.
    func admin(_ invocation: Invocation) -> AdminClient {
        AdminClient(sockets: AdminSocket.candidates(named: invocation.value("socket"), in: self))
    }

    /// Creates a client of this user's agent, connected to the agent's bus.
    ///
    /// - Returns: The connected client.
    /// - Throws: `CommandError.noBus` when that bus does not exist.
    func agent() throws(CommandError) -> AgentClient { try AgentClient(environment: environment) }
}
