// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

extension Writer {
    /// Executes a bounded step of the next search.
    func searchTrace() {
        guard failure == nil, let search = dispatcher.deliveryState.takeSearch() else { return }
        do {
            dispatcher.deliveryState.putBack(search, isMore: try executor.traces.step(search))
        } catch {
            fail(StoreError(error, path: configuration.path))
        }
    }

    /// Writes the trace's buffer after its delay, when no transaction has written it.
    func flushTraceIfDue() {
        guard executor.trace.hasUnwritten else { return nextTraceFlush = nil }
        let now = MonotonicTime.now
        let due = nextTraceFlush ?? now.advanced(byMilliseconds: WriterLimits.traceFlushMilliseconds)
        nextTraceFlush = due
        guard now >= due || executor.trace.isFull else { return }
        nextTraceFlush = now.advanced(byMilliseconds: WriterLimits.traceFlushMilliseconds)
        flushTrace()
    }

    /// Writes the trace's buffer, unless the disk is full.
    func flushTrace() {
        guard failure == nil, reserve.isHeld, executor.trace.hasUnwritten else { return }
        _ = attempt { () throws(SQLiteError) in executor.trace.flushSoon() }
    }
}
