// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// The queue of commands from any thread to the writer: one lock for a batch, one wake-up when the writer sleeps.
///
/// The queue is bounded. Beyond `WriterLimits.queuedCommandCountMax` commands, only the addresses of notifications and
/// broadcasts are kept. Beyond `WriterLimits.queuedRequestCountMax` more, only those of requests and streams are kept.
/// The writer refuses the commands whose addresses it gets.
// Safety: `mutex` guards `waiting`; the two pointers never change.
@safe
final class CommandQueue: @unchecked Sendable {
    /// The content of the queue that the writer takes in one call.
    struct Taken {
        var commands: [StoreCommand] = []
        /// The addresses of notifications and broadcasts that were dropped.
        var shed: [ReplyAddress] = []
        /// The addresses of requests and streams that were dropped.
        var shedRequests: [ReplyAddress] = []
        /// Whether the queue is closed, so that nothing follows.
        var isLast = false

        /// Empties the value; releases the memory of a large burst.
        mutating func clear() {
            commands.removeAll(keepingCapacity: commands.capacity <= WriterLimits.commandsPerTransactionCountMax)
            if !shed.isEmpty { shed = [] }
            if !shedRequests.isEmpty { shedRequests = [] }
        }
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var waiting = Taken()
    /// The number of waiting commands, written while `mutex` is held.
    let waitingCount = MetricCell()

    init() {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe Self.check(pthread_mutex_init(mutex, nil))
        // CLOCK_MONOTONIC, because the wall clock may be set.
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

    /// Adds commands and empties the array; drops them when the queue is closed.
    ///
    /// Swaps the arrays when the queue is empty.
    func append(_ commands: inout [StoreCommand]) {
        unsafe Self.check(pthread_mutex_lock(mutex))
        let wasEmpty = waiting.commands.isEmpty && waiting.shed.isEmpty && !waiting.isLast
        if waiting.isLast {
            // The writer no longer takes commands, so drop them.
        } else if waiting.commands.isEmpty, commands.count <= WriterLimits.queuedCommandCountMax {
            swap(&waiting.commands, &commands)
        } else if waiting.commands.count + commands.count <= WriterLimits.queuedCommandCountMax {
            waiting.commands.append(contentsOf: commands)
        } else {
            for command in commands { appendOrShed(command) }
        }
        waitingCount.set(Int64(waiting.commands.count))
        unsafe Self.check(pthread_mutex_unlock(mutex))
        // Signal after unlocking, so that the writer does not wake up only to wait for the lock.
        if wasEmpty { unsafe Self.check(pthread_cond_signal(condition)) }
        commands.removeAll(keepingCapacity: true)
    }

    /// Closes the queue; the writer stops after the commands that were added before.
    func close() {
        unsafe Self.check(pthread_mutex_lock(mutex))
        defer { unsafe Self.check(pthread_mutex_unlock(mutex)) }
        waiting.isLast = true
        unsafe Self.check(pthread_cond_signal(condition))
    }

    /// Takes all commands; waits for one until the deadline when the queue is empty.
    ///
    /// - Parameters:
    ///   - deadline: The deadline; one in the past means not to wait.
    ///   - taken: The destination, which is cleared first; its storage is reused.
    func take(until deadline: MonotonicTime, into taken: inout Taken) {
        taken.clear()
        unsafe Self.check(pthread_mutex_lock(mutex))
        defer { unsafe Self.check(pthread_mutex_unlock(mutex)) }
        var moment = Self.specification(deadline)
        while waiting.commands.isEmpty, waiting.shed.isEmpty, !waiting.isLast, deadline > .now {
            let code = unsafe pthread_cond_timedwait(condition, mutex, &moment)
            if code == ETIMEDOUT { break }
            Self.check(code)
        }
        taken.isLast = waiting.isLast
        swap(&waiting, &taken)
        waitingCount.set(0)
    }

    private func appendOrShed(_ command: StoreCommand) {
        guard waiting.commands.count >= WriterLimits.queuedCommandCountMax else {
            return waiting.commands.append(command)
        }
        switch command {
        case .accept(_, let answer), .publish(_, let answer): waiting.shed.append(answer)
        case .attach(_, let answer, _), .perform(_, let answer):
            let countMax = WriterLimits.queuedCommandCountMax + WriterLimits.queuedRequestCountMax
            if waiting.commands.count < countMax {
                waiting.commands.append(command)
            } else {
                waiting.shedRequests.append(answer)
            }
        // These commands have no answer, and the loops bound their number.
        case .detach, .acknowledge, .usesDirectory, .host: waiting.commands.append(command)
        }
    }

    private static func specification(_ time: MonotonicTime) -> timespec {
        timespec(tv_sec: Int(time.nanoseconds / 1_000_000_000), tv_nsec: Int(time.nanoseconds % 1_000_000_000))
    }

    /// Stops the process when a pthread call fails, because these calls fail only when they are misused.
    private static func check(_ code: Int32) {
        precondition(code == 0, "a lock or condition of the store's queue failed with error number \(code)")
    }
}
