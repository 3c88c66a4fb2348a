// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PushDBus

/// A client of `org.posthorn.Agent1` on the session bus; its calls are asynchronous.
final class AgentProxy {
    /// The timeout of methods that wait for the server; the agent's own timeout is shorter.
    static let serverCallTimeout = Duration.seconds(60)

    private let connection: BusConnection
    private var source: BusSource?

    /// Connects to the session bus and subscribes to the agent's signals.
    ///
    /// - Parameters:
    ///   - onSignal: Called with each signal, and with the app ID if the signal has one.
    ///   - onOwner: Called with true when the agent appears on the bus, and with false when it leaves.
    /// - Throws: An error when there is no session bus.
    init(onSignal: @escaping (AgentSignal, String?) -> Void, onOwner: @escaping (Bool) -> Void) throws(BusError) {
        connection = try BusConnection(.session)
        for signal in AgentSignal.allCases {
            try connection.subscribe(
                sender: AgentInterface.name, path: AgentInterface.path, interface: AgentInterface.name,
                member: signal.rawValue
            ) { onSignal(signal, $0.arguments.first?.stringValue) }
        }
        try connection.watchOwner(of: AgentInterface.name) { onOwner($0 != nil) }
        source = BusSource(connection) { onOwner(false) }
    }

    /// Calls a method; the completion runs once, after this function has returned.
    func call(
        _ method: AgentMethod, _ arguments: [BusValue] = [], timeout: Duration = .seconds(25),
        _ completion: @escaping (Result<[BusValue], BusError>) -> Void = { _ in }
    ) {
        connection.send(
            AgentInterface.name, AgentInterface.path, AgentInterface.name, method.rawValue, arguments, timeout: timeout,
            completion: completion)
    }

    /// Calls a method and blocks for up to two seconds; for use only when the process ends.
    func callBeforeTheEnd(_ method: AgentMethod, _ arguments: [BusValue]) {
        _ = try? connection.call(
            AgentInterface.name, AgentInterface.path, AgentInterface.name, method.rawValue, arguments,
            timeout: .seconds(2))
    }
}
