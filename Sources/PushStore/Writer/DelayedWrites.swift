// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushSQL

/// Writes what memory gathers for a while: delivery histories, trace events, and the archive of old notifications.
final class DelayedWrites {
    private let committer: Committer
    private let executor: Executor
    private let dispatcher: Dispatcher
    private let histories: DeliveryHistories
    private let trace: TraceRecorder
    /// The archiving run, and the committer's `recoveryCount` at its start.
    private var archiving: (run: ArchivingRun, recoveryCount: Int)?
    /// The time at which the trace's buffer is written; nil while it is empty.
    private var nextTraceFlush: MonotonicTime?

    init(_ committer: Committer) {
        self.committer = committer
        executor = committer.executor
        dispatcher = committer.dispatcher
        histories = committer.executor.histories
        trace = committer.executor.trace
    }

    /// Whether an archiving run has more steps.
    var isArchiving: Bool { archiving != nil }

    /// The time at which a write is due; nil if nothing waits.
    var nextDue: MonotonicTime? {
        guard let flush = nextTraceFlush else { return histories.nextWrite }
        guard let write = histories.nextWrite else { return flush }
        return min(flush, write)
    }

    // MARK: Delivery histories

    /// Writes the next changed delivery histories when a step is due.
    func writeHistoriesIfDue() {
        guard let due = histories.nextWrite, committer.failure == nil else { return }
        let now = MonotonicTime.now
        guard due <= now else { return }
        // A full disk has no space for the histories, so they wait in memory.
        guard committer.space.isHeld else { return histories.postpone(at: now) }
        if !writeHistories(at: now) { histories.postpone(at: now) }
    }

    /// Writes all changed delivery histories, unless the disk is full.
    func writeAllHistories() {
        while committer.canWrite, histories.hasUnwritten {
            guard writeHistories(at: .now) else { return }
        }
    }

    private func writeHistories(at moment: MonotonicTime) -> Bool {
        let step = histories.beginStep(at: moment)
        guard committer.attempt({ () throws(SQLError) in try histories.write(step) }) else { return false }
        histories.confirm(step)
        return true
    }

    // MARK: The trace

    /// Writes the trace's buffer after its delay, when no transaction has written it.
    func flushTraceIfDue() {
        guard trace.hasUnwritten else { return nextTraceFlush = nil }
        let now = MonotonicTime.now
        let next = now.advanced(byMilliseconds: committer.configuration.writeDelayMilliseconds)
        let due = nextTraceFlush ?? next
        nextTraceFlush = due
        guard now >= due || trace.isFull else { return }
        nextTraceFlush = next
        flushTrace()
    }

    /// Writes the trace's buffer, unless the disk is full.
    func flushTrace() {
        guard committer.canWrite, trace.hasUnwritten else { return }
        _ = committer.attempt { () throws(SQLError) in trace.flushSoon() }
    }

    // MARK: The archive

    /// Whether an archiving run should begin, for which all queues must be here.
    var needsQueues: Bool {
        archiving == nil && committer.canWrite && dispatcher.queues.recentCount > committer.configuration.recentCountMax
    }

    /// Archives the next recent notifications, once there are too many.
    ///
    /// - Parameter recallAll: Recalls the queues that hosts hold; returns whether all are here. A host may hold a
    ///   notification that is older than others and not written.
    func archiveIfMany(_ recallAll: () -> Bool) {
        // After a crash, missing events are recorded only for rows that are not archived, so write the events first.
        if isArchiving || needsQueues { flushTrace() }
        // After a retry, restored notifications are not part of the run. A new run finds them.
        if archiving?.recoveryCount != committer.recoveryCount { archiving = nil }
        guard committer.canWrite else { return }
        if needsQueues {
            guard recallAll() else { return }
            let run = ArchivingRun(dispatcher.queues, through: dispatcher.lastWritten)
            archiving = (run, committer.recoveryCount)
        }
        guard var run = archiving?.run else { return }
        let step = run.takeStep()
        let isDone = committer.attempt { () throws(SQLError) in
            try executor.storedQueues.archive(step, through: run.end)
        }
        guard isDone else {
            // The rows stay recent, and a later run finds them again.
            archiving = nil
            return
        }
        for row in step { dispatcher.queues.noteArchived(row) }
        archiving = run.end == nil ? (run, committer.recoveryCount) : nil
    }
}
