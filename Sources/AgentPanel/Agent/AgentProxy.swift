// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// A client of `org.posthorn.Agent1` on the session bus; its calls are asynchronous.
final class AgentProxy {
    /// The signals of the agent.
    enum Signal: String, CaseIterable {
        case settings = "SettingsChanged"
        case inbox = "InboxChanged"
        case arrived = "NotificationArrived"
        case badge = "BadgeChanged"
        case token = "TokenChanged"
        case status = "StatusChanged"
        case alerts = "AlertsChanged"
    }

    /// The timeout of methods that wait for the server; the agent's own timeout is shorter.
    static let patience = Duration.seconds(60)
    static let name = "org.posthorn.Agent1"
    static let path = "/org/posthorn/Agent1"

    private let connection: BusConnection
    private var source: BusSource?

    /// Connects to the session bus and subscribes to the agent's signals.
    ///
    /// - Parameters:
    ///   - onSignal: Called with each signal, and with the app id if the signal has one.
    ///   - onOwner: Called with true when the agent appears on the bus, and with false when it leaves.
    /// - Throws: An error when there is no session bus.
    init(onSignal: @escaping (Signal, String?) -> Void, onOwner: @escaping (Bool) -> Void) throws(BusError) {
        connection = try BusConnection(.session)
        for signal in Signal.allCases {
            try connection.subscribe(sender: Self.name, path: Self.path, interface: Self.name, member: signal.rawValue)
            {
                onSignal(signal, $0.arguments.first?.stringValue)
            }
        }
        try connection.watchOwner(of: Self.name) { onOwner($0 != nil) }
        source = BusSource(connection) { onOwner(false) }
    }

    /// Calls a method; the completion runs once, after this function has returned.
    func call(
        _ member: String, _ arguments: [BusValue] = [], timeout: Duration = .seconds(25),
        _ completion: @escaping (Result<[BusValue], BusError>) -> Void = { _ in }
    ) {
        connection.send(Self.name, Self.path, Self.name, member, arguments, timeout: timeout, completion: completion)
    }

    /// Calls a method and blocks for up to two seconds; for use only when the process ends.
    func callBeforeTheEnd(_ member: String, _ arguments: [BusValue]) {
        _ = try? connection.call(Self.name, Self.path, Self.name, member, arguments, timeout: .seconds(2))
    }
}
