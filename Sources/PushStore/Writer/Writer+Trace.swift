// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

extension Writer {
    /// Goes on with one search, a bounded piece.
    func searchTrace() {
        guard failure == nil, let search = dispatcher.ledger.takeSearch() else { return }
        do {
            dispatcher.ledger.putBack(search, isMore: try executor.step(search))
        } catch {
            fail(StoreError(error, path: configuration.path))
        }
    }

    /// Writes what the trace has in memory when no transaction came along for it.
    func flushTraceIfDue() {
        guard executor.trace.hasUnwritten else { return nextTraceFlush = nil }
        let now = MonotonicTime.now
        let due = nextTraceFlush ?? now.advanced(byMilliseconds: WriterLimits.traceFlushMilliseconds)
        nextTraceFlush = due
        guard now >= due || executor.trace.isFull else { return }
        nextTraceFlush = now.advanced(byMilliseconds: WriterLimits.traceFlushMilliseconds)
        flushTrace()
    }

    /// Writes what the trace has in memory, unless the disk is full.
    func flushTrace() {
        guard failure == nil, reserve.isHeld, executor.trace.hasUnwritten else { return }
        _ = attempt { () throws(SQLiteError) in executor.trace.flushSoon() }
    }
}
