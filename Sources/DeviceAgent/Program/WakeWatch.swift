// SPDX-License-Identifier: Apache-2.0

internal import PushDBus
internal import PushNet

/// Hears from the system bus when the machine wakes up and when the network is back: the moments at which an open
/// connection is dead and waiting is pointless.
final class WakeWatch {
    /// NetworkManager's NM_STATE_CONNECTED_GLOBAL.
    private static let connectedGlobally: UInt32 = 70

    private let driver: BusDriver

    /// Listens to logind and NetworkManager; either may be absent.
    ///
    /// - Parameters:
    ///   - loop: Whose thread this is.
    ///   - onWake: Called when it is time to connect anew.
    /// - Throws: `BusError` when there is no system bus.
    init(loop: EventLoop, onWake: @escaping () -> Void) throws(BusError) {
        let connection = try BusConnection(.system)
        try connection.subscribe(
            sender: "org.freedesktop.login1", path: "/org/freedesktop/login1",
            interface: "org.freedesktop.login1.Manager", member: "PrepareForSleep"
        ) { signal in
            // False: it was asleep, and is awake again.
            if signal.arguments.first == .bool(false) { onWake() }
        }
        try connection.subscribe(
            sender: "org.freedesktop.NetworkManager", path: "/org/freedesktop/NetworkManager",
            interface: "org.freedesktop.NetworkManager", member: "StateChanged"
        ) { signal in
            if signal.arguments.first == .uint32(Self.connectedGlobally) { onWake() }
        }
        do {
            driver = try BusDriver(loop: loop, connection: connection)
        } catch {
            throw BusError(name: BusError.failedName, message: "the loop cannot watch the system bus: \(error)")
        }
        driver.connectionLost = { agentLog.warning("system_bus_lost", ["error": $0.message]) }
    }
}
