// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// Passes events, delivery histories and searches of the trace to the worker for the trace.
///
/// The thread of the store uses it. Events wait for a second, so that a row has many of them. The events of a
/// request are written before its answer, together with all other events that arrived during the previous write.
struct HistoryFeed {
    private let worker: RequestWorker
    /// The time of the next write; nil while no event waits.
    private var due: MonotonicTime?
    private var lastWrite = MonotonicTime.past
    /// The requests whose events are in the next write.
    private var next: [ChangeGroup] = []
    /// The requests whose events are in the writes under way.
    private var underWay = FIFOQueue<[ChangeGroup]>()

    init(_ worker: RequestWorker) { self.worker = worker }

    /// The time of the next write; nil while no event waits, and during a write.
    var nextDue: MonotonicTime? { underWay.isEmpty ? due : nil }

    /// Writes the events of a request before its answer.
    mutating func write(for group: ChangeGroup) {
        group.await()
        next.append(group)
        due = .past
    }

    /// Passes everything that is due at the end of a turn.
    mutating func endTurn(_ store: ClusterStore) {
        let trace = store.trace
        if due == nil, trace?.isEmpty == false {
            due = MonotonicTime.now.advanced(byMilliseconds: ClusterLimits.traceDelayMilliseconds)
        }
        guard underWay.isEmpty else { return }
        let histories = store.takeHistories(isLast: false)
        // Without events, the worker still deletes old ones.
        let isTrimDue = trace != nil && lastWrite.advanced(byMilliseconds: ClusterLimits.traceTrimMilliseconds) <= .now
        let isDue = due.map { $0 <= .now } ?? isTrimDue || trace?.isFull == true
        guard !histories.isEmpty || isDue else { return }
        flush(store, histories)
    }

    /// Passes everything before the node ends.
    mutating func end(_ store: ClusterStore) { flush(store, store.takeHistories(isLast: true)) }

    private mutating func flush(_ store: ClusterStore, _ histories: [DeliveryHistory.Copy]) {
        (due, lastWrite) = (nil, .now)
        underWay.append(next)
        next = []
        // If too many jobs wait, events are lost, as in a full buffer.
        let isSubmitted = worker.submit(.writeHistory(store.trace?.take() ?? [], histories))
        if !isSubmitted { noteWritten(isComplete: false) }
    }

    /// Starts a search that finds the events of this node until now; returns false when too many wait.
    mutating func search(_ query: TraceQuery, _ answer: ReplyAddress, _ store: ClusterStore) -> Bool {
        if store.trace?.isEmpty == false { flush(store, []) }
        return worker.submit(.search(query, answer: answer))
    }

    /// Answers the requests of the first write under way; if it failed, another one follows after a second.
    mutating func noteWritten(isComplete: Bool) {
        for group in underWay.popFirst() ?? [] { group.applied() }
        guard !isComplete else { return }
        due = due ?? MonotonicTime.now.advanced(byMilliseconds: ClusterLimits.traceDelayMilliseconds)
    }
}
