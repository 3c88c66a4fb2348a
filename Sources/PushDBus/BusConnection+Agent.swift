// SPDX-License-Identifier: Apache-2.0

extension BusConnection.Bus {
    /// The environment variable that selects a bus other than the session bus.
    package static let agentVariable = "POSTHORN_AGENT_BUS"

    /// Returns the agent's bus: the session bus, or the value of `POSTHORN_AGENT_BUS`, `system` or a D-Bus address.
    package static func ofAgent(environment: [String: String]) -> BusConnection.Bus {
        switch environment[agentVariable] ?? "" {
        case "", "session": .session
        case "system": .system
        case let address: .address(address)
        }
    }

    /// Returns the value of `POSTHORN_AGENT_BUS` if it selects a bus other than the session bus; nil otherwise.
    package static func agentValue(environment: [String: String]) -> String? {
        environment[agentVariable].flatMap { ["", "session"].contains($0) ? nil : $0 }
    }

    /// Returns advice, in one sentence, for a value of `POSTHORN_AGENT_BUS` that does not lead to a bus.
    package static func remedy(agentValue value: String) -> String {
        if value == "system" {
            return "Start the system bus, or unset \(agentVariable) to use the session bus."
        }
        guard value.contains(":") else {
            return "Set \(agentVariable) to system, session, or an address such as unix:path=/run/kiosk/bus."
        }
        return "Start that bus or correct its address, or unset \(agentVariable) to use the session bus."
    }

    /// Whether this is the session bus of a desktop.
    package var isSession: Bool {
        if case .session = self { true } else { false }
    }
}
