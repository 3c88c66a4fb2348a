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

    /// The value of `POSTHORN_AGENT_BUS` where that names another bus than the session's; nil otherwise.
    package static func agentValue(environment: [String: String]) -> String? {
        environment[agentVariable].flatMap { ["", "session"].contains($0) ? nil : $0 }
    }

    /// What to do about a value of `POSTHORN_AGENT_BUS` with which there is no bus: one sentence.
    package static func remedy(agentValue value: String) -> String {
        if value == "system" {
            return "Start the system's bus, or unset \(agentVariable): then it is the session's bus."
        }
        guard value.contains(":") else {
            return "Set \(agentVariable) to system, session, or an address such as unix:path=/run/kiosk/bus."
        }
        return "Start that bus or correct its address, or unset \(agentVariable): then it is the session's bus."
    }

    /// Whether a desktop is on it.
    package var isSession: Bool {
        if case .session = self { true } else { false }
    }
}
