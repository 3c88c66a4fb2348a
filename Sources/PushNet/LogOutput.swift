// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writes log lines to a descriptor without making a caller wait for the reader.
///
/// ```
/// any thread ──append──▶ chunks, 1 MiB in all ──▶ the log's thread ──write(2), may block──▶ descriptor
///                └─ full: dropped and counted
/// ```
///
/// Before `startThread`, and in programs that never call it, the calling thread writes a line if the descriptor accepts
/// it immediately; otherwise the line is dropped and counted. The count follows as `log_lines_dropped` when space is
/// available again.
// Safety: `mutex` guards every variable; the pointers never change.
@safe final class LogOutput: @unchecked Sendable {
    private let descriptor: Int32
    private let format: LogLine
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Signaled when the thread has work.
    private let work: UnsafeMutablePointer<pthread_cond_t>
    /// Signaled when everything is written.
    private let drained: UnsafeMutablePointer<pthread_cond_t>

    private var buckets = LogBuckets()
    /// The lines that wait for the thread, in pieces of about `LogBounds.chunkByteCountMax`.
    private var chunks: [[UInt8]] = []
    /// The number of bytes in `chunks` and in the piece that the thread is writing.
    private var waitingByteCount = 0
    private var droppedCount = 0
    private var hasThread = false
    private var isEnding = false

    /// Creates an output to a descriptor that the caller owns.
    init(descriptor: Int32, isJournal: Bool) {
        self.descriptor = descriptor
        format = LogLine(isJournal: isJournal)
        unsafe mutex = .allocate(capacity: 1)
        unsafe Self.check(pthread_mutex_init(mutex, nil))
        unsafe (work, drained) = unsafe (Self.makeCondition(), Self.makeCondition())
    }

    deinit {
        unsafe pthread_cond_destroy(work)
        unsafe pthread_cond_destroy(drained)
        unsafe pthread_mutex_destroy(mutex)
        unsafe work.deallocate()
        unsafe drained.deallocate()
        unsafe mutex.deallocate()
    }

    /// Checks a line against its event's bucket.
    ///
    /// - Parameters:
    ///   - cause: The event and level of the line.
    ///   - subject: The device, address or other subject of the line; nil for no subject.
    /// - Returns: Nil if the line must be omitted, else the number of lines that were omitted before it.
    func admit(_ cause: LogBuckets.Cause, about subject: String?) -> Int? {
        locked {
            let isOwed = buckets.nextSummary != nil
            let verdict = buckets.admit(cause, about: subject, now: .now)
            // The thread sleeps without a limit while no summary is due.
            if verdict == nil, !isOwed, hasThread { unsafe Self.check(pthread_cond_signal(work)) }
            return verdict
        }
    }

    /// Writes an event, or queues it for the thread.
    func append(
        _ level: EventLog.Level, _ event: StaticString, _ fields: KeyValuePairs<String, String>, leftOutCount: Int
    ) {
        let line = format.bytes(level, event, fields, leftOutCount: leftOutCount)
        locked {
            if !hasThread { addSummaries(now: .now) }
            if droppedCount > 0, put(droppedLine(droppedCount)) { droppedCount = 0 }
            // Lines after a gap wait until the gap is reported.
            if droppedCount > 0 || !put(line) { droppedCount &+= 1 }
        }
    }

    /// Starts the log's thread, which does all writing from now on.
    ///
    /// Call it once, after the program has blocked its signals.
    func startThread() {
        locked {
            precondition(!hasThread, "the log's thread was started twice")
            hasThread = true
        }
        _ = Thread(name: "log") { self.writeUntilEnd() }
    }

    /// Writes the summaries, and waits until everything is written.
    ///
    /// - Parameter timeout: The longest wait; afterwards the thread continues without the caller.
    func flush(within timeout: Duration) {
        locked {
            addSummaries(now: nil)
            if droppedCount > 0, put(droppedLine(droppedCount)) { droppedCount = 0 }
            var deadline = Self.specification(MonotonicTime.now.advanced(by: timeout))
            while hasThread, waitingByteCount > 0 || droppedCount > 0 {
                let code = unsafe pthread_cond_timedwait(drained, mutex, &deadline)
                if code == ETIMEDOUT { return }
                Self.check(code)
            }
        }
    }

    /// Ends the thread once everything is written.
    func endThread() {
        locked {
            isEnding = true
            unsafe Self.check(pthread_cond_signal(work))
        }
    }

    // MARK: Lines, while the lock is held

    /// Queues or writes one line; returns false if there is no space.
    private func put(_ line: [UInt8]) -> Bool {
        guard hasThread else { return writeAtOnce(line) }
        guard waitingByteCount + line.count <= LogBounds.waitingByteCountMax else { return false }
        if let last = chunks.indices.last, chunks[last].count + line.count <= LogBounds.chunkByteCountMax {
            chunks[last].append(contentsOf: line)
        } else {
            chunks.append(line)
        }
        if waitingByteCount == 0 { unsafe Self.check(pthread_cond_signal(work)) }
        waitingByteCount += line.count
        return true
    }

    private func addSummaries(now: MonotonicTime?) {
        for summary in buckets.takeSummaries(now: now) {
            let fields: KeyValuePairs = ["of": summary.cause.event, "count": "\(summary.count)"]
            if !put(format.bytes(summary.cause.level, "log_lines_left_out", fields)) {
                droppedCount &+= 1
            }
        }
    }

    private func droppedLine(_ count: Int) -> [UInt8] {
        format.bytes(.warning, "log_lines_dropped", ["count": "\(count)"])
    }

    /// Writes a line if the descriptor accepts it without a wait: at most `PIPE_BUF` bytes fit if it is writable.
    private func writeAtOnce(_ line: [UInt8]) -> Bool {
        var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard unsafe poll(&wish, 1, 0) != 0 else { return false }
        // A failure of the log itself cannot be reported anywhere.
        let count = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        return count >= 0 || errno != EAGAIN
    }

    // MARK: The log's thread

    private func writeUntilEnd() {
        while let chunk = nextChunk() {
            writeAll(chunk)
            locked {
                waitingByteCount -= chunk.count
                if waitingByteCount == 0 { unsafe Self.check(pthread_cond_broadcast(drained)) }
            }
        }
    }

    /// Waits for lines; returns nil at the end.
    private func nextChunk() -> [UInt8]? {
        locked {
            while true {
                addSummaries(now: .now)
                if chunks.isEmpty, droppedCount > 0, put(droppedLine(droppedCount)) { droppedCount = 0 }
                if !chunks.isEmpty { return chunks.removeFirst() }
                guard !isEnding else { return nil }
                waitForWork()
            }
        }
    }

    /// Sleeps until there is work or a summary is due; if neither occurs, the thread never wakes.
    private func waitForWork() {
        guard let due = buckets.nextSummary else { return unsafe Self.check(pthread_cond_wait(work, mutex)) }
        var deadline = Self.specification(due)
        let code = unsafe pthread_cond_timedwait(work, mutex, &deadline)
        if code != ETIMEDOUT { Self.check(code) }
    }

    private func writeAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                // Another program may have made the shared descriptor non-blocking.
                var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&wish, 1, -1)
            } else if count == 0 || errno != EINTR {
                return
            }
        }
    }

    // MARK: Lock and clock

    private func locked<Result>(_ body: () -> Result) -> Result {
        unsafe Self.check(pthread_mutex_lock(mutex))
        defer { unsafe Self.check(pthread_mutex_unlock(mutex)) }
        return body()
    }

    private static func specification(_ time: MonotonicTime) -> timespec {
        timespec(tv_sec: Int(time.nanoseconds / 1_000_000_000), tv_nsec: Int(time.nanoseconds % 1_000_000_000))
    }

    private static func makeCondition() -> UnsafeMutablePointer<pthread_cond_t> {
        let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
        // The monotonic clock is used for waits because nothing sets it.
        var attributes = pthread_condattr_t()
        unsafe check(pthread_condattr_init(&attributes))
        unsafe check(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC))
        unsafe check(pthread_cond_init(condition, &attributes))
        unsafe pthread_condattr_destroy(&attributes)
        return unsafe condition
    }

    /// Stops the process on an error: these calls fail only because of a bug here.
    private static func check(_ code: Int32) {
        precondition(code == 0, "a lock or condition of the log failed with error number \(code)")
    }
}
