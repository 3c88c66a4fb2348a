// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A timer by the machine's wall clock, which also fires when the clock is set and after the machine has slept.
///
/// The receiver compares the time with the clock and sets the timer again, because the timer may fire early.
package final class WallTimer: EventHandler {
    private let descriptor: FileDescriptor
    private let loop: EventLoop
    private let onFire: () -> Void
    private var registration: Registration?

    /// Creates a timer that is not set, until `stop`.
    ///
    /// - Parameters:
    ///   - loop: The loop of the current thread.
    ///   - onFire: Called at the time, or when the clock was set.
    /// - Throws: `NetError.system` if the process has no descriptor left.
    package init(loop: EventLoop, onFire: @escaping () -> Void) throws(NetError) {
        let flags = Int32(TFD_CLOEXEC) | Int32(TFD_NONBLOCK)
        guard let number = try syscall("timerfd_create", { timerfd_create(CLOCK_REALTIME, flags) }) else {
            throw systemFailure("timerfd_create", EAGAIN)
        }
        descriptor = FileDescriptor(adopting: number)
        self.loop = loop
        self.onFire = onFire
        registration = try loop.register(number, for: .readable, handler: self)
    }

    /// Stops the timer; call it before the loop is deallocated.
    package func stop() {
        if let registration { loop.deregister(registration) }
        registration = nil
    }

    /// Sets the time in milliseconds since 1970, or disarms the timer if the time is nil.
    package func set(unixMilliseconds time: Int64?) throws(NetError) {
        var value = itimerspec()
        if let time {
            // A value of 0 would disarm the timer.
            let (seconds, rest) = max(1, time).quotientAndRemainder(dividingBy: 1000)
            value.it_value = timespec(tv_sec: time_t(seconds), tv_nsec: Int(rest) * 1_000_000)
        }
        let flags = Int32(TFD_TIMER_ABSTIME) | Int32(TFD_TIMER_CANCEL_ON_SET)
        let setting = value
        _ = try syscall("timerfd_settime") {
            unsafe withUnsafePointer(to: setting) { unsafe timerfd_settime(descriptor.rawValue, flags, $0, nil) }
        }
    }

    /// Reads the expiration, or the error that reports a change of the clock.
    package func ready(_ readiness: Readiness) {
        var count: UInt64 = 0
        let length = unsafe read(descriptor.rawValue, &count, MemoryLayout<UInt64>.size)
        guard length > 0 || errno == ECANCELED else { return }
        onFire()
    }
}
