// SPDX-License-Identifier: Apache-2.0

package import PushDBus
package import PushNet

/// Drives a bus connection from an event loop: one thread, that of the loop.
package final class BusDriver {
    /// The connection that is driven.
    package let connection: BusConnection
    /// Called once when the bus is gone; the connection is not driven any more then.
    package var connectionLost: ((BusError) -> Void)?

    private let loop: EventLoop
    private let readiness: BusReadiness
    private var registration: Registration?
    private var timer: TimerID?
    private var isUpdatePending = false

    /// Watches the connection from now until the driver goes, or `stop`.
    ///
    /// - Parameters:
    ///   - loop: Whose thread this is.
    ///   - connection: Its `activityHandler` is the driver's from now on.
    /// - Throws: `NetError` when the loop cannot watch one more descriptor.
    package init(loop: EventLoop, connection: BusConnection) throws(NetError) {
        self.loop = loop
        self.connection = connection
        readiness = BusReadiness()
        registration = try loop.register(connection.descriptor, for: .readable, handler: readiness)
        readiness.driver = self
        connection.activityHandler = { [weak self] in self?.updateAtEndOfTurn() }
        // Messages may lie in the library's buffer already, where no event tells of them.
        updateAtEndOfTurn()
    }

    deinit { stop() }

    /// Stops watching; must come before the connection goes, and does when the driver goes.
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

    /// Tells the loop what the connection waits for now.
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

/// What the loop keeps: not the driver itself, so that the driver can go.
private final class BusReadiness: EventHandler {
    weak var driver: BusDriver?

    func ready(_ readiness: Readiness) { driver?.work() }
}
