// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The epoll set and timers of one thread.
///
/// Not Sendable: created, used and run on one thread. Other threads reach it through mailboxes.
///
/// A turn of the loop:
///
/// ```
///   wait ──▶ read the clock ──▶ events (handlers, mailboxes) ──▶ due timers ──▶ end-of-turn actions ──▶ wait …
/// ```
///
/// Every handler and action may call every method. A deregistered handler or canceled timer is never called again,
/// even if its event was already waiting in the same turn.
@safe package final class EventLoop {
    /// The largest number of events that one turn takes from the kernel; the rest waits for the next turn.
    private static let eventCountMax = 256

    private let epoll: FileDescriptor
    private let events: UnsafeMutableBufferPointer<epoll_event>
    private var registrations = ReadinessTable()
    private var timers = TimerQueue()
    private var endOfTurnActions: [() -> Void] = []
    private var spareActions: [() -> Void] = []
    private var isStopping = false
    /// The executor of the loop's tasks.
    private(set) lazy var executor = LoopExecutor(self)

    /// The time, read once per turn.
    package private(set) var now = MonotonicTime.now
    /// The time that all turns have taken so far, without the waits between them.
    package private(set) var busyNanoseconds: Int64 = 0

    /// Creates a loop with `epoll_create1(2)`.
    package init() throws(NetError) {
        guard let descriptor = try syscall("epoll_create1", { epoll_create1(Int32(EPOLL_CLOEXEC)) }) else {
            throw systemFailure("epoll_create1", EAGAIN)
        }
        epoll = FileDescriptor(adopting: descriptor)
        unsafe events = .allocate(capacity: Self.eventCountMax)
        unsafe events.initialize(repeating: epoll_event())
    }

    deinit { unsafe events.deallocate() }

    // MARK: Descriptors

    /// Watches a descriptor, level-triggered.
    ///
    /// The loop retains the handler until `deregister`; if the handler retains the loop, both stay alive until then.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, which the caller owns and closes only after `deregister`.
    ///   - readiness: The events to watch for; `failed` is always watched.
    ///   - handler: The receiver of the events, called on the loop.
    /// - Returns: The registration, for `modify` and `deregister`.
    /// - Throws: `NetError.system` if the kernel has no memory or cannot poll such a file.
    package func register(
        _ descriptor: Int32, for readiness: Readiness, handler: any EventHandler
    ) throws(NetError) -> Registration {
        let registration = registrations.insert(
            .init(descriptor: descriptor, readiness: readiness, handler: handler))
        do {
            try control(EPOLL_CTL_ADD, descriptor, readiness, registration)
        } catch {
            _ = registrations.remove(registration)
            throw error
        }
        return registration
    }

    /// Changes the watched events of a descriptor; makes no system call if nothing changes.
    package func modify(_ registration: Registration, for readiness: Readiness) throws(NetError) {
        guard let entry = registrations[registration] else {
            preconditionFailure("a registration was modified after it was deregistered")
        }
        guard entry.readiness != readiness else { return }
        try control(EPOLL_CTL_MOD, entry.descriptor, readiness, registration)
        registrations.update(registration, readiness: readiness)
    }

    /// Removes a descriptor and its handler; call it before the descriptor is closed.
    ///
    /// A repeated call does nothing.
    ///
    /// - Parameter registration: The registration from `register`.
    package func deregister(_ registration: Registration) {
        guard let entry = registrations.remove(registration) else { return }
        guard epoll_ctl(epoll.rawValue, EPOLL_CTL_DEL, entry.descriptor, nil) != 0 else { return }
        // Any other failure is the kernel's; its events are dropped as stale until the descriptor closes.
        let isOurs = errno == EBADF || errno == ENOENT
        precondition(!isOurs, "descriptor \(entry.descriptor) was closed before it was deregistered: errno \(errno)")
    }

    // MARK: Timers and the end of a turn

    /// Runs the action once, on the loop, no earlier than `delay` from now by the monotonic clock.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerID {
        // The turn's time may be long past, so the action would run too early.
        timers.schedule(at: MonotonicTime.now.advanced(by: delay), action)
    }

    /// Cancels a timer; does nothing if it has already fired.
    package func cancel(_ timer: TimerID) {
        _ = timers.cancel(timer)
    }

    /// Runs the action at the end of this turn, before the loop waits again, for example to flush changes of the turn.
    ///
    /// An action that is added by such an action runs at the end of the next turn, which then follows immediately.
    ///
    /// - Parameter action: The action, which runs once.
    package func atEndOfTurn(_ action: @escaping () -> Void) {
        endOfTurnActions.append(action)
    }

    // MARK: Running

    /// Runs until `stop` is called on this thread; the current turn is completed.
    package func run() {
        // The time since the last run was not spent in a turn.
        now = .now
        while !isStopping { turn() }
        isStopping = false
    }

    /// Ends `run` after this turn; if called before `run`, makes `run` return immediately.
    package func stop() {
        isStopping = true
    }

    private func turn() {
        let eventCount = wait()
        now = .now
        for index in 0..<eventCount {
            let event = unsafe events[index]
            unsafe dispatch(Registration(epollData: event.data.u64), flags: event.events)
        }
        let limit = timers.scheduledCount
        while let action = timers.popDue(at: now, scheduledBefore: limit) { action() }
        runEndOfTurnActions()
    }

    /// Calls `epoll_wait(2)`, which can fail only because of a bug here; an interrupted wait is a turn without events.
    private func wait() -> Int {
        let end = MonotonicTime.now
        busyNanoseconds += end.nanoseconds(since: now)
        let count = unsafe epoll_wait(
            epoll.rawValue, events.baseAddress, Int32(Self.eventCountMax), waitMilliseconds(from: end))
        guard count < 0 else { return Int(count) }
        precondition(errno == EINTR, "epoll_wait failed: errno \(errno)")
        return 0
    }

    /// Returns the time to wait, rounded up because a timer must not fire early; -1 for no limit.
    private func waitMilliseconds(from now: MonotonicTime) -> Int32 {
        if !endOfTurnActions.isEmpty { return 0 }
        guard let deadline = timers.nextDeadline else { return -1 }
        let rest = deadline.nanoseconds(since: now)
        guard rest > 0 else { return 0 }
        return Int32(clamping: (rest - 1) / 1_000_000 + 1)
    }

    private func dispatch(_ registration: Registration, flags: UInt32) {
        guard let entry = registrations[registration] else { return }
        var readiness: Readiness = []
        if flags & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
        if flags & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness.insert(.failed) }
        entry.handler.ready(readiness)
    }

    private func runEndOfTurnActions() {
        guard !endOfTurnActions.isEmpty else { return }
        var actions = spareActions
        spareActions = []
        swap(&actions, &endOfTurnActions)
        for action in actions { action() }
        actions.removeAll(keepingCapacity: true)
        spareActions = actions
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ readiness: Readiness, _ registration: Registration
    ) throws(NetError) {
        var flags: UInt32 = 0
        if readiness.contains(.readable) { flags |= EPOLLIN.rawValue }
        if readiness.contains(.writable) { flags |= EPOLLOUT.rawValue }
        var event = unsafe epoll_event(events: flags, data: epoll_data_t(u64: registration.epollData))
        _ = try syscall("epoll_ctl", about: "descriptor \(descriptor)") {
            unsafe epoll_ctl(epoll.rawValue, operation, descriptor, &event)
        }
    }
}
