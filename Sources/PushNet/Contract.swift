// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.

/// What the kernel or the caller's configuration did.
package enum NetError: Error, Sendable {
    /// A system call failed: its name, errno, and what it was about (address or path).
    case system(call: String, code: Int32, subject: String)
    /// Text that is no address or port.
    case badAddress(String)
}

/// Owns one file descriptor.
@safe package struct FileDescriptor: ~Copyable, Sendable {
    /// The number, lent for system calls and epoll.
    package let rawValue: Int32
    /// Adopts an open descriptor.
    package init(adopting rawValue: Int32) { self.rawValue = rawValue }
    deinit {}
}

/// What a descriptor is watched for, and what it is ready for.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let readable = Readiness(rawValue: 1)
    package static let writable = Readiness(rawValue: 2)
    /// Error or hang-up; always reported.
    package static let failed = Readiness(rawValue: 4)
}

/// Gets a descriptor's events on the loop's thread.
package protocol EventHandler: AnyObject {
    func ready(_ readiness: Readiness)
}

/// One registration of a descriptor with a loop; carries a generation, so that a stale event is dropped.
package struct Registration: Hashable, Sendable {
    package let slot: UInt32
    package let generation: UInt32
}

/// A pending timer.
package struct TimerID: Hashable, Sendable {
    package let rawValue: UInt64
}

/// One thread's epoll set and timers. Not Sendable: made, used and run on one thread (mailboxes are the way in).
package final class EventLoop {
    package init() throws(NetError) { preconditionFailure("unwritten") }
    /// Level-triggered.
    package func register(_ descriptor: Int32, for readiness: Readiness, handler: any EventHandler) throws(NetError)
        -> Registration
    { preconditionFailure("unwritten") }
    package func modify(_ registration: Registration, for readiness: Readiness) throws(NetError) {
        preconditionFailure("unwritten")
    }
    /// Must come before the descriptor is closed.
    package func deregister(_ registration: Registration) { preconditionFailure("unwritten") }
    /// Runs the action once, on the loop, at least `delay` from now on the monotonic clock.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerID {
        preconditionFailure("unwritten")
    }
    package func cancel(_ timer: TimerID) { preconditionFailure("unwritten") }
    /// Runs the action at the end of this turn, before the loop waits again (flush what the turn dirtied).
    package func atEndOfTurn(_ action: @escaping () -> Void) { preconditionFailure("unwritten") }
    /// Watches a mailbox: the action gets each batch that was posted, in order, on the loop.
    package func attach<Message: Sendable>(_ mailbox: Mailbox<Message>, _ action: @escaping ([Message]) -> Void)
        throws(NetError)
    { preconditionFailure("unwritten") }
    /// Runs until `stop` is called on this thread.
    package func run() { preconditionFailure("unwritten") }
    package func stop() { preconditionFailure("unwritten") }
    /// Monotonic, read once per turn, in nanoseconds.
    package var monotonicNanoseconds: UInt64 { preconditionFailure("unwritten") }
}

/// A queue into a loop from any thread: one lock for a whole batch, one wake-up (eventfd) when it was empty.
package final class Mailbox<Message: Sendable>: Sendable {
    package init() throws(NetError) { preconditionFailure("unwritten") }
    package func post(_ message: Message) { preconditionFailure("unwritten") }
    package func post(contentsOf messages: [Message]) { preconditionFailure("unwritten") }
}

/// A value behind a pthread mutex (the thread sanitizer does not understand `Synchronization.Mutex`).
package final class Lock<Value>: @unchecked Sendable {
    package init(_ value: sending Value) { preconditionFailure("unwritten") }
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        preconditionFailure("unwritten")
    }
}

/// A POSIX thread with a name.
package final class Thread: Sendable {
    /// Starts at once.
    package init(name: String, _ body: @escaping @Sendable () -> Void) { preconditionFailure("unwritten") }
    /// Waits for its end; call once.
    package func join() { preconditionFailure("unwritten") }
}

/// Listening sockets and accepted ones.
package enum Sockets {
    /// TCP, non-blocking, SO_REUSEADDR and on request SO_REUSEPORT; host may be a name, an address, or `*` for all
    /// (dual-stack); port 0 lets the kernel choose.
    package static func listen(host: String, port: UInt16, sharingPort: Bool) throws(NetError) -> FileDescriptor {
        preconditionFailure("unwritten")
    }
    /// A UNIX stream socket, made with exactly this mode; a stale socket file of ours is replaced, a live one refused.
    package static func listen(path: String, mode: UInt32) throws(NetError) -> FileDescriptor {
        preconditionFailure("unwritten")
    }
    /// The next connection, non-blocking, TCP_NODELAY where it applies; nil when none waits or descriptors ran out
    /// (then `exhausted` is set).
    package static func accept(_ listener: Int32, exhausted: inout Bool) throws(NetError) -> FileDescriptor? {
        preconditionFailure("unwritten")
    }
    package static func localPort(_ socket: Int32) throws(NetError) -> UInt16 { preconditionFailure("unwritten") }
    /// User, group and process at the other end of a UNIX socket.
    package static func peerCredentials(_ socket: Int32) throws(NetError) -> (user: UInt32, group: UInt32, process: Int32)
    { preconditionFailure("unwritten") }
    /// read(2): bytes read, 0 at the end, nil for EAGAIN.
    package static func read(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(NetError) -> Int? {
        preconditionFailure("unwritten")
    }
    /// write(2) with MSG_NOSIGNAL: bytes written, nil for EAGAIN.
    package static func write(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) throws(NetError) -> Int? {
        preconditionFailure("unwritten")
    }
}

/// Signals as messages (signalfd). Make it before any thread starts, so that all threads block them.
package final class SignalQueue {
    package init(_ signals: [Int32]) throws(NetError) { preconditionFailure("unwritten") }
    /// For `EventLoop.register`.
    package var descriptor: Int32 { preconditionFailure("unwritten") }
    /// The next signal, nil when none waits.
    package func next() throws(NetError) -> Int32? { preconditionFailure("unwritten") }
}

/// Wall clock.
package enum WallClock {
    package static func unixMilliseconds() -> Int64 { preconditionFailure("unwritten") }
}
