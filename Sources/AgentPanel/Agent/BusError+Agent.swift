// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushDBus

extension BusError {
    /// Whether the agent returned the error; a newer agent may have errors without an `AgentErrorCode`.
    var isOfAgent: Bool { name.hasPrefix("org.posthorn.Error.") }

    /// The agent's code of the error; nil for other errors.
    ///
    /// Too many calls at once have the same code, whether the agent or the bus refuses them.
    var agentCode: AgentErrorCode? {
        name == Self.limitsExceededName ? .limitsExceeded : AgentErrorCode(busName: name)
    }
}
