// SPDX-License-Identifier: Apache-2.0

extension CommandContext {
    /// Creates a client of this user's agent, connected to the agent's bus.
    ///
    /// - Returns: The connected client.
    /// - Throws: `CommandError.noBus` when that bus does not exist.
    func agent() throws(CommandError) -> AgentClient { try AgentClient(environment: environment) }
}
