// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// Reports from the system bus when the machine goes to sleep, wakes up, and is connected to the network again.
///
/// Either of logind and NetworkManager may be absent.
package final class SleepMonitor {
    /// A change of the machine's state.
    package enum Event: Sendable, Equatable {
        case sleeps, wakes, networkChanged

        /// The event's name in the log.
        package var word: String {
            switch self {
            case .sleeps: "sleeps"
            case .wakes: "wakes"
            case .networkChanged: "network-changed"
            }
        }
    }

    /// The value of NetworkManager's NM_STATE_CONNECTED_GLOBAL.
    private static let connectedGlobally: UInt32 = 70
    /// The time after which a sleep counts as over if logind does not report its end; the clock stops during sleep.
    private static let sleepMax: Duration = .seconds(30)
    private static let logind = "org.freedesktop.login1"
    private static let networkManager = "org.freedesktop.NetworkManager"

    /// Called when the bus is lost; no event is reported any more then.
    package var onLost: () -> Void = {}

    private let loop: EventLoop
    private let driver: BusDriver
    private let lock: SleepLock
    private let onEvent: (Event) -> Void
    private var sleepTimer: TimerID?

    /// Subscribes to the events.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - connection: A connection to the system bus.
    ///   - log: Receives an event when the bus is lost, or when logind refuses the lock.
    ///   - onEvent: Called on the loop. `wakes` comes once after each `sleeps`, and after a sleep that was not
    ///     announced.
    /// - Throws: `BusError` when the bus refuses a subscription.
    package init(
        loop: EventLoop, connection: BusConnection, log: EventLog, onEvent: @escaping (Event) -> Void
    ) throws(BusError) {
        self.loop = loop
        self.onEvent = onEvent
        lock = SleepLock(connection, log: log)
        do {
            driver = try BusDriver(loop: loop, connection: connection)
        } catch {
            throw BusError(name: BusError.failedName, message: "the loop cannot watch the system bus: \(error)")
        }
        driver.connectionLost = { [weak self] error in
            log.warning("system_bus_lost", ["error": error.message])
            self?.wake()
            self?.onLost()
        }
        try connection.subscribe(
            sender: Self.logind, path: "/org/freedesktop/login1", interface: "\(Self.logind).Manager",
            member: "PrepareForSleep"
        ) { [weak self] signal in
            switch signal.arguments.first {
            case .bool(true): self?.sleep()
            case .bool(false): self?.awake()
            default: break
            }
        }
        try connection.subscribe(
            sender: Self.networkManager, path: "/org/freedesktop/NetworkManager", interface: Self.networkManager,
            member: "StateChanged"
        ) { signal in
            if signal.arguments.first == .uint32(Self.connectedGlobally) { onEvent(.networkChanged) }
        }
        // A restarted logind has lost the earlier locks.
        try connection.watchOwner(of: Self.logind) { [weak self] owner in
            if owner != nil { self?.lock.take() }
        }
        lock.take()
    }

    private func sleep() {
        onEvent(.sleeps)
        lock.release()
        guard sleepTimer == nil else { return }
        sleepTimer = loop.schedule(after: Self.sleepMax) { [weak self] in self?.wake() }
    }

    private func awake() {
        if sleepTimer == nil { onEvent(.wakes) } else { wake() }
        lock.take()
    }

    private func wake() {
        guard let sleepTimer else { return }
        loop.cancel(sleepTimer)
        self.sleepTimer = nil
        onEvent(.wakes)
    }
}
