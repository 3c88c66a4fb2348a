// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// A connection to a message bus; owns one `sd_bus *`.
///
/// One thread, driven by the owner's loop: watch `descriptor` for `wantedEvents` until `timeout`, then call
/// `process()`; `activityHandler` says when a call of ours has changed these. Handlers and completions run in
/// `process()` and may call back in here.
///
/// All slots are floating: sd-bus drops them with the bus, so that the objects whose addresses it has live exactly as
/// long as this object, which keeps them.
@safe package final class BusConnection {
    /// Which bus to connect to.
    package enum Bus: Sendable {
        /// The person's bus, as `DBUS_SESSION_BUS_ADDRESS` or `XDG_RUNTIME_DIR` says.
        case session
        /// The computer's bus.
        case system
        /// A bus at a D-Bus address, such as `unix:path=/run/user/1000/bus`.
        case address(String)
    }

    /// How many messages one `process()` takes, so that a talkative peer cannot hold the loop.
    static let messagesPerTurnMax = 256

    let handle: OpaquePointer
    /// The connection's own name on the bus, such as `:1.42`.
    package let uniqueName: String
    /// For epoll or poll; stays open for as long as this object lives.
    ///
    /// A duplicate of what `sd_bus_get_fd` says, because sd-bus closes its own in the middle of `process()` when the bus
    /// goes, and whoever watches a descriptor must stop before it is closed.
    package let descriptor: Int32
    /// Called after each call of ours that may have changed `wantedEvents` or `timeout`.
    ///
    /// What the owner's loop does then is to look at these again before it sleeps; it must not call `process()` here.
    package var activityHandler: (() -> Void)?

    var pendingCalls: [ObjectIdentifier: PendingCall] = [:]
    var subscriptions: [Subscription] = []
    var servedObjects: [ServedObject] = []
    /// Completions of calls that could not even be sent; they run in the next `process()`.
    private var deferred: [() -> Void] = []
    private var isProcessing = false

    /// Connects, authenticates and says hello; blocks for as long as that takes on a local socket.
    ///
    /// - Parameter bus: Which bus.
    /// - Throws: `BusError` when there is no bus, with what to do about it.
    package init(_ bus: Bus) throws(BusError) {
        let handle = try unsafe BusConnection.open(bus)
        do {
            uniqueName = try unsafe BusConnection.greet(handle)
            descriptor = try unsafe BusConnection.duplicateDescriptor(of: handle)
        } catch {
            _ = unsafe sd_bus_close_unref(handle)
            throw error.explained(for: bus)
        }
        unsafe self.handle = handle
    }

    deinit {
        _ = unsafe sd_bus_flush_close_unref(handle)
        close(descriptor)
    }

    /// What to watch the descriptor for (`sd_bus_get_events`).
    package var wantedEvents: (readable: Bool, writable: Bool) {
        let events = unsafe sd_bus_get_events(handle)
        // A negative answer is a connection that ended: reading it makes `process` say so.
        guard events >= 0 else { return (true, false) }
        return (events & Int32(POLLIN) != 0, events & Int32(POLLOUT) != 0)
    }

    /// Time until `process` must be called in any case; nil for none (`sd_bus_get_timeout`).
    package var timeout: Duration? {
        guard deferred.isEmpty else { return .zero }
        var deadlineMicroseconds: UInt64 = 0
        let code = unsafe sd_bus_get_timeout(handle, &deadlineMicroseconds)
        guard code >= 0 else { return .zero }
        guard deadlineMicroseconds != .max else { return nil }
        let now = BusConnection.monotonicMicroseconds()
        guard deadlineMicroseconds > now else { return .zero }
        return .microseconds(Int64(clamping: deadlineMicroseconds - now))
    }

    /// Handles what waits, up to a bound after which `timeout` is zero; does nothing when called from a handler.
    ///
    /// - Throws: `BusError` when the bus is gone. Completions of calls that were under way have run with an error by
    ///   then. Make a new connection.
    package func process() throws(BusError) {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        runDeferred()
        for _ in 0..<BusConnection.messagesPerTurnMax {
            let code = unsafe sd_bus_process(handle, nil)
            guard try BusError.check(code, "the bus closed the connection") > 0 else { return }
        }
    }

    /// Runs an action in the next `process()`.
    func runLater(_ action: @escaping () -> Void) {
        deferred.append(action)
        activityHandler?()
    }

    private func runDeferred() {
        let actions = deferred
        deferred = []
        for action in actions { action() }
    }
}
