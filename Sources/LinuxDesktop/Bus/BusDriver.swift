// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// Drives a bus connection from an event loop, on the loop's thread.
package final class BusDriver {
    package let connection: BusConnection
    /// Called once when the bus is lost; the connection is no longer driven then.
    package var connectionLost: ((BusError) -> Void)?

    private let loop: EventLoop
    private let readiness: BusReadiness
    private var registration: Registration?
    private var timer: TimerID?
    private var isUpdatePending = false

    /// Watches the connection until `stop` or until the driver is released.
    ///
    /// - Parameters:
    ///   - loop: The loop on whose thread this runs.
    ///   - connection: The connection; the driver sets its `activityHandler`.
    /// - Throws: `NetError` when the loop cannot watch another descriptor.
    package init(loop: EventLoop, connection: BusConnection) throws(NetError) {
        self.loop = loop
        self.connection = connection
        readiness = BusReadiness()
        registration = try loop.register(connection.descriptor, for: .readable, handler: readiness)
        readiness.driver = self
        connection.activityHandler = { [weak self] in self?.updateAtEndOfTurn() }
        // The library's buffer may already hold messages, for which epoll reports no event.
        updateAtEndOfTurn()
    }

    deinit { stop() }

    /// Stops watching, as `deinit` does; must be called before the connection is released.
    package func stop() {
        connection.activityHandler = nil
        if let registration { loop.deregister(registration) }
        if let timer { loop.cancel(timer) }
        registration = nil
        timer = nil
    }

    fileprivate func work() {
        guard registration != nil else { return }
        do {
            try connection.process()
        } catch {
            stop()
            connectionLost?(error)
            return
        }
        update()
    }

    private func updateAtEndOfTurn() {
        guard !isUpdatePending else { return }
        isUpdatePending = true
        loop.atEndOfTurn { [weak self] in
            self?.isUpdatePending = false
            self?.update()
        }
    }

    /// Updates the events and the timeout for which the connection waits.
    private func update() {
        guard let registration else { return }
        let wanted = connection.wantedEvents
        var events: Readiness = []
        if wanted.readable { events.insert(.readable) }
        if wanted.writable { events.insert(.writable) }
        do {
            try loop.modify(registration, for: events)
        } catch {
            stop()
            connectionLost?(BusError(name: BusError.failedName, message: "the loop cannot watch the bus: \(error)"))
            return
        }
        if let timer { loop.cancel(timer) }
        timer = connection.timeout.map { delay in
            loop.schedule(after: delay) { [weak self] in self?.work() }
        }
    }
}

/// The event handler that the loop retains; it refers weakly to the driver, so that the driver can be released.
private final class BusReadiness: EventHandler {
    weak var driver: BusDriver?

    func ready(_ readiness: Readiness) { driver?.work() }
}
