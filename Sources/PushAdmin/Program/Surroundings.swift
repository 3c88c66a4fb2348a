// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What a command finds around it.
package struct Surroundings: Sendable {
    /// Environment variables.
    package let environment: [String: String]
    /// Whether the effective user is root.
    package let isRoot: Bool

    /// Joins the parts.
    package init(environment: [String: String], isRoot: Bool) {
        self.environment = environment
        self.isRoot = isRoot
    }

    /// The environment variable, if it is set and not empty.
    package func variable(_ name: String) -> String? {
        guard let value = environment[name], !value.isEmpty else { return nil }
        return value
    }

    /// A client of the server's admin API, on the socket that the command line or the environment names.
    func admin(_ invocation: Invocation) -> AdminClient {
        AdminClient(sockets: AdminSocket.candidates(named: invocation.value("socket"), in: self))
    }

    /// A client of this person's agent.
    ///
    /// - Returns: The client, connected to the agent's bus.
    /// - Throws: When there is no such bus.
    func agent() throws(CommandError) -> AgentClient { try AgentClient(environment: environment) }
}
