// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// The agent as the panel reaches it: `org.posthorn.Agent1` on the session bus, without ever waiting for it.
final class AgentProxy {
    /// What the agent tells by itself.
    enum Signal: String, CaseIterable {
        case settings = "SettingsChanged"
        case inbox = "InboxChanged"
        case arrived = "NotificationArrived"
        case badge = "BadgeChanged"
        case token = "TokenChanged"
        case status = "StatusChanged"
        case alerts = "AlertsChanged"
    }

    /// Asks the network: the agent gives up by then.
    static let patience = Duration.seconds(60)
    static let name = "org.posthorn.Agent1"
    static let path = "/org/posthorn/Agent1"

    private let connection: BusConnection
    private var source: BusSource?

    /// Connects to the session bus and listens.
    ///
    /// - Parameters:
    ///   - onSignal: Gets a signal, and the app that it names, if it does.
    ///   - onOwner: Whether there is an agent, each time that it comes or goes.
    /// - Throws: Why there is no bus.
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

    /// Calls a method; the completion runs later, once.
    func call(
        _ member: String, _ arguments: [BusValue] = [], timeout: Duration = .seconds(25),
        _ completion: @escaping (Result<[BusValue], BusError>) -> Void = { _ in }
    ) {
        connection.send(Self.name, Self.path, Self.name, member, arguments, timeout: timeout, completion: completion)
    }

    /// Calls a method and waits a moment for it to be done: for the end of the process only.
    func callBeforeTheEnd(_ member: String, _ arguments: [BusValue]) {
        _ = try? connection.call(Self.name, Self.path, Self.name, member, arguments, timeout: .seconds(2))
    }
}
