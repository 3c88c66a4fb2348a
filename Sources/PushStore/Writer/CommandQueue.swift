// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Commands on their way from any thread to the writer: one lock for a batch, one wake-up when the writer sleeps.
///
/// Bounded: beyond `WriterLimits.queuedCommandCountMax`, notifications and broadcasts are not kept but only their addresses, so that
/// the writer refuses them. What devices and administrators ask for always gets through; there is little of it.
// Safety: `mutex` guards `waiting`; the two pointers never change.
@safe
final class CommandQueue: @unchecked Sendable {
    /// What the writer takes at once.
    struct Taken {
        var commands: [StoreCommand] = []
        /// Where notifications came from that were not kept.
        var shed: [ReplyAddress] = []
        /// Nothing will come after this.
        var isLast = false

        /// Empties it; a burst does not pin its memory.
        mutating func clear() {
            commands.removeAll(keepingCapacity: commands.capacity <= WriterLimits.commandsPerTransactionCountMax)
            if !shed.isEmpty { shed = [] }
        }
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var waiting = Taken()

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe Self.check(pthread_mutex_init(mutex, nil))
        // Waits are measured on the clock that nobody sets.
        var attributes = pthread_condattr_t()
        unsafe Self.check(pthread_condattr_init(&attributes))
        unsafe Self.check(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        unsafe Self.check(pthread_cond_init(condition, &attributes))
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Adds commands and empties the array, or drops them when the queue is closed; nothing is copied when none waits.
    func append(_ commands: inout [StoreCommand]) {
        unsafe Self.check(pthread_mutex_lock(mutex))
        let wasEmpty = waiting.commands.isEmpty && waiting.shed.isEmpty && !waiting.isLast
        if waiting.isLast {
            // Nobody would take them.
        } else if waiting.commands.isEmpty, commands.count <= WriterLimits.queuedCommandCountMax {
            swap(&waiting.commands, &commands)
        } else if waiting.commands.count + commands.count <= WriterLimits.queuedCommandCountMax {
            waiting.commands.append(contentsOf: commands)
        } else {
            for command in commands { appendOrShed(command) }
        }
        unsafe Self.check(pthread_mutex_unlock(mutex))
        // Only now, so that the writer does not wake up to wait for the lock.
        if wasEmpty { unsafe Self.check(pthread_cond_signal(condition)) }
        commands.removeAll(keepingCapacity: true)
    }

    /// Lets the writer come to its end, after what was added before.
    func close() {
        unsafe Self.check(pthread_mutex_lock(mutex))
        defer { unsafe Self.check(pthread_mutex_unlock(mutex)) }
        waiting.isLast = true
        unsafe Self.check(pthread_cond_signal(condition))
    }

    /// Takes all that waits; with nothing there, waits until a moment of the monotonic clock.
    ///
    /// - Parameters:
    ///   - deadline: The moment; one that has passed is not waited for.
    ///   - taken: Gets what waits, in place of what was there; its storage is used again.
    func take(until deadline: MonotonicTime, into taken: inout Taken) {
        taken.clear()
        unsafe Self.check(pthread_mutex_lock(mutex))
        defer { unsafe Self.check(pthread_mutex_unlock(mutex)) }
        var moment = deadline.specification
        while waiting.commands.isEmpty, waiting.shed.isEmpty, !waiting.isLast, deadline > .now {
            let code = unsafe pthread_cond_timedwait(condition, mutex, &moment)
            if code == ETIMEDOUT { break }
            Self.check(code)
        }
        taken.isLast = waiting.isLast
        swap(&waiting, &taken)
    }

    private func appendOrShed(_ command: StoreCommand) {
        guard waiting.commands.count >= WriterLimits.queuedCommandCountMax else {
            return waiting.commands.append(command)
        }
        switch command {
        case .accept(_, let answer), .publish(_, let answer): waiting.shed.append(answer)
        case .attach, .detach, .acknowledge, .perform: waiting.commands.append(command)
        }
    }

    /// These calls fail only when we misuse them.
    private static func check(_ code: Int32) {
        precondition(code == 0, "a lock or condition of the store's queue failed with error number \(code)")
    }
}

/// A moment of the monotonic clock.
struct MonotonicTime: Comparable {
    private var nanoseconds: Int64

    /// Now.
    static var now: MonotonicTime {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// Long ago.
    static var past: MonotonicTime { MonotonicTime(nanoseconds: 0) }

    /// Never.
    static var future: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// So much later.
    func advanced(byMilliseconds milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + milliseconds * 1_000_000)
    }

    /// How long ago an earlier moment was, rounded up.
    func milliseconds(since earlier: MonotonicTime) -> Int64 {
        (nanoseconds - earlier.nanoseconds + 999_999) / 1_000_000
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    fileprivate var specification: timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
