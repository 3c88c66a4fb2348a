// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import Glibc

/// A connection to a message bus; owns one `sd_bus *`.
///
/// It is used on one thread and driven by the owner's loop. The loop watches `descriptor` for `wantedEvents` until
/// `timeout`, then calls `process()`. `activityHandler` reports when a call has changed these values. Handlers and
/// completions run in `process()` and may call this object.
///
/// All slots are floating, so sd-bus releases them with the bus. This object owns the objects whose addresses sd-bus
/// has, so they live exactly as long.
@safe package final class BusConnection {
    /// The bus to connect to.
    package enum Bus: Sendable {
        /// The user's session bus, from `DBUS_SESSION_BUS_ADDRESS` or `XDG_RUNTIME_DIR`.
        case session
        /// The system bus of the machine.
        case system
        /// A bus at a D-Bus address, such as `unix:path=/run/user/1000/bus`.
        case address(String)
    }

    /// The maximum number of messages per `process()`, so that a busy peer cannot block the loop.
    static let messagesPerTurnMax = 256

    let handle: OpaquePointer
    /// The connection's own name on the bus, such as `:1.42`.
    package let uniqueName: String
    /// The descriptor for epoll or poll, which stays open while this object exists.
    ///
    /// It is a duplicate of `sd_bus_get_fd`. sd-bus closes its own descriptor during `process()` when the bus goes, but
    /// a descriptor must not be closed while it is watched.
    package let descriptor: Int32
    /// Called after each call to this object that may have changed `wantedEvents` or `timeout`.
    ///
    /// The owner's loop must then read these values again before it sleeps. It must not call `process()` in the
    /// handler.
    package var activityHandler: (() -> Void)?

    var pendingCalls: [ObjectIdentifier: PendingCall] = [:]
    var subscriptions: [SignalSubscription] = []
    var servedObjects: [ServedObject] = []
    /// The completions of calls that could not be sent; they run in the next `process()`.
    private var deferred: [() -> Void] = []
    private var isProcessing = false

    /// Connects, authenticates and says hello; blocks as long as this takes on a local socket.
    ///
    /// - Parameter bus: The bus to connect to.
    /// - Throws: `BusError` with advice if the bus cannot be reached.
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

    /// The events to watch the descriptor for (`sd_bus_get_events`).
    package var wantedEvents: (readable: Bool, writable: Bool) {
        let events = unsafe sd_bus_get_events(handle)
        // A negative value means that the connection has ended; a read makes `process` report it.
        guard events >= 0 else { return (true, false) }
        return (events & Int32(POLLIN) != 0, events & Int32(POLLOUT) != 0)
    }

    /// The time until `process` must be called without an event; nil for no limit (`sd_bus_get_timeout`).
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

    /// Handles pending messages up to a maximum, after which `timeout` is zero; does nothing if called from a handler.
    ///
    /// - Throws: `BusError` if the bus is gone. The completions of outstanding calls have run with an error by then.
    ///   Create a new connection.
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
