// SPDX-License-Identifier: Apache-2.0

package import PushDBus

/// Calls this person's agent on its bus; deploy/dbus/org.posthorn.Agent1.xml says what it understands.
final class AgentClient {
    static let busName = "org.posthorn.Agent1"
    static let objectPath = "/org/posthorn/Agent1"
    /// Enrolling and registering wait for the agent's server, which has 30 seconds itself.
    private static let timeout = Duration.seconds(60)

    let connection: BusConnection
    /// What `POSTHORN_AGENT_BUS` says; nil on the session's bus.
    let busValue: String?

    /// Connects to the bus that the environment names, the session's if it names none.
    init(environment: [String: String]) throws(CommandError) {
        busValue = BusConnection.Bus.agentValue(environment: environment)
        do throws(BusError) {
            connection = try BusConnection(.ofAgent(environment: environment))
        } catch {
            // The first sentence; what to do about it is said once.
            throw .noBus(variable: busValue, String(error.message.prefix { $0 != "." }))
        }
    }

    /// Calls a method and gives its first answer; nil for a method that answers nothing.
    @discardableResult
    func call(_ call: AgentCall) throws(CommandError) -> BusValue? {
        do throws(BusError) {
            return try connection.call(
                Self.busName, Self.objectPath, Self.busName, call.method, call.arguments, timeout: Self.timeout
            ).first
        } catch {
            throw AgentAnswer.failure(error, busValue: busValue)
        }
    }
}

/// A method call of the agent's D-Bus API.
package struct AgentCall: Equatable, Sendable {
    /// For example `Register`.
    package let method: String
    /// In the order of the XML file.
    package let arguments: [BusValue]

    init(_ method: String, _ arguments: BusValue...) {
        self.method = method
        self.arguments = arguments
    }
}

/// Reads what the agent answers.
package enum AgentAnswer {
    /// What a D-Bus error means for the person, on the bus that `POSTHORN_AGENT_BUS` names, if it does.
    package static func failure(_ error: BusError, busValue: String? = nil) -> CommandError {
        let name = error.name
        // Only errors of the agent's own and of its method calls say that it is there.
        guard name.hasPrefix("org.posthorn.Error.") || AgentFailure(busName: name) != .other else {
            return isAbsence(name)
                ? .agentUnreachable(error.message, variable: busValue)
                : .agentRefused(name: name, message: text(of: error))
        }
        return .agentRefused(name: name, message: text(of: error))
    }

    private static func text(of error: BusError) -> String {
        error.message.isEmpty ? error.name : error.message
    }

    private static func isAbsence(_ name: String) -> Bool {
        let prefix = "org.freedesktop.DBus.Error."
        let absences = [
            "ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected", "NoServer",
        ]
        return name.hasPrefix(prefix + "Spawn.") || name.hasPrefix("System.Error.")
            || absences.contains { name == prefix + $0 }
    }

    static func nonsense(_ method: String) -> CommandError {
        .badAnswer(of: "the agent", detail: "\(method) answered something else")
    }

    static func string(_ value: BusValue?, of method: String) throws(CommandError) -> String {
        guard let text = value?.stringValue else { throw nonsense(method) }
        return text
    }

    static func dictionary(_ value: BusValue?, of method: String) throws(CommandError) -> BusValue {
        guard let value, value.dictionaryPairs != nil else { throw nonsense(method) }
        return value
    }

    static func bool(_ value: BusValue?, of method: String) throws(CommandError) -> Bool {
        guard let flag = value?.boolValue else { throw nonsense(method) }
        return flag
    }

    static func integer(_ value: BusValue?, of method: String) throws(CommandError) -> Int64 {
        guard let number = value?.integerValue else { throw nonsense(method) }
        return number
    }

    static func list<Facts>(
        _ value: BusValue?, of method: String, as make: (BusValue) -> Facts
    ) throws(CommandError) -> [Facts] {
        guard let elements = value?.arrayValue else { throw nonsense(method) }
        return elements.map(make)
    }
}
