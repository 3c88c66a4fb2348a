// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushDBus

/// A client of this user's agent; deploy/dbus/org.posthorn.Agent1.xml defines the interface.
final class AgentClient {
    /// The timeout of a method call; `Enrol` and `Register` wait for the server, whose own timeout is 30 seconds.
    private static let timeout = Duration.seconds(60)

    let connection: BusConnection
    /// The value of `POSTHORN_AGENT_BUS`; nil on the session bus.
    let busValue: String?

    /// Connects to the bus that the environment names; the default is the session bus.
    init(environment: [String: String]) throws(CommandError) {
        busValue = BusConnection.Bus.agentValue(environment: environment)
        do throws(BusError) {
            connection = try BusConnection(.ofAgent(environment: environment))
        } catch {
            // Only the first sentence is kept: `CommandError.remedy` already says what to do.
            let text = String(error.message.prefix { $0 != "." })
            throw .noBus(variable: busValue, text.replacing("connect to the bus: ", with: ""))
        }
    }

    /// Calls a method and returns its first result; nil for a method without results.
    @discardableResult
    func call(_ call: AgentCall) throws(CommandError) -> BusValue? {
        do throws(BusError) {
            return try connection.call(
                AgentInterface.name, AgentInterface.path, AgentInterface.name, call.method.rawValue, call.arguments,
                timeout: Self.timeout
            ).first
        } catch {
            throw AgentAnswer.failure(error, busValue: busValue)
        }
    }
}

/// A method call of the agent.
struct AgentCall: Equatable, Sendable {
    /// The method to call.
    let method: AgentMethod
    /// The arguments, in the order of the XML file.
    let arguments: [BusValue]

    init(_ method: AgentMethod, _ arguments: BusValue...) {
        self.method = method
        self.arguments = arguments
    }
}

/// Validates and decodes the agent's answers.
enum AgentAnswer {
    /// Converts a D-Bus error to a command error; `busValue` is the value of `POSTHORN_AGENT_BUS`.
    static func failure(_ error: BusError, busValue: String? = nil) -> CommandError {
        let name = error.name
        // Only the agent's own errors and the listed D-Bus errors prove that the agent runs.
        guard name.hasPrefix("org.posthorn.Error.") || AgentFailure(busName: name) != .other else {
            return isAbsence(name)
                ? .agentUnreachable(absence(error), variable: busValue)
                : .agentRefused(name: name, message: text(of: error))
        }
        return .agentRefused(name: name, message: text(of: error))
    }

    private static func text(of error: BusError) -> String {
        error.message.isEmpty ? error.name : error.message
    }

    /// Returns why the agent cannot be reached, without the terms of D-Bus for the usual reasons.
    private static func absence(_ error: BusError) -> String {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            "it is not running"
        case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout",
            "org.freedesktop.DBus.Error.TimedOut":
            "it does not answer"
        default: error.message
        }
    }

    private static func isAbsence(_ name: String) -> Bool {
        let prefix = "org.freedesktop.DBus.Error."
        let absences = [
            "ServiceUnknown", "NameHasNoOwner", "NoReply", "Timeout", "TimedOut", "Disconnected", "NoServer",
        ]
        return name.hasPrefix(prefix + "Spawn.") || name.hasPrefix("System.Error.")
            || absences.contains { name == prefix + $0 }
    }

    static func nonsense(_ method: AgentMethod) -> CommandError {
        .badAnswer(of: "the agent", detail: "unexpected result of \(method.rawValue)")
    }

    static func string(_ value: BusValue?, of method: AgentMethod) throws(CommandError) -> String {
        guard let text = value?.stringValue else { throw nonsense(method) }
        return text
    }

    static func dictionary(_ value: BusValue?, of method: AgentMethod) throws(CommandError) -> BusValue {
        guard let value, value.dictionaryPairs != nil else { throw nonsense(method) }
        return value
    }

    static func bool(_ value: BusValue?, of method: AgentMethod) throws(CommandError) -> Bool {
        guard let flag = value?.boolValue else { throw nonsense(method) }
        return flag
    }

    static func integer(_ value: BusValue?, of method: AgentMethod) throws(CommandError) -> Int64 {
        guard let number = value?.integerValue else { throw nonsense(method) }
        return number
    }

    static func list<Record: AgentRecord>(
        _ value: BusValue?, of method: AgentMethod, as record: Record.Type
    ) throws(CommandError) -> [Record] {
        guard let elements = value?.arrayValue else { throw nonsense(method) }
        return elements.map(Record.init)
    }
}
