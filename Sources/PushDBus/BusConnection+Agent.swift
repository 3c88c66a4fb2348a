// SPDX-License-Identifier: Apache-2.0

extension BusConnection.Bus {
    /// The variable that names another bus than the session's.
    package static let agentVariable = "POSTHORN_AGENT_BUS"

    /// The bus on which the agent is: the session's, or what `POSTHORN_AGENT_BUS` says, `system` or a D-Bus address.
    package static func ofAgent(environment: [String: String]) -> BusConnection.Bus {
        switch environment[agentVariable] ?? "" {
        case "", "session": .session
        case "system": .system
        case let address: .address(address)
        }
    }

    /// Whether a desktop is on it.
    package var isSession: Bool {
        if case .session = self { true } else { false }
    }
}
