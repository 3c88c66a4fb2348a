// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The searches of the trace that are running, the next one first.
///
/// They take turns, one step each.
struct TraceSearchQueue {
    private var searches: [TraceSearch] = []

    var isEmpty: Bool { searches.isEmpty }

    /// Adds a search; returns false when too many are running.
    mutating func append(_ search: TraceSearch) -> Bool {
        guard searches.count < Limits.traceSearchCountMax else { return false }
        searches.append(search)
        return true
    }

    /// Takes the next search in turn.
    mutating func popFirst() -> TraceSearch? { searches.isEmpty ? nil : searches.removeFirst() }

    /// Queues a search again after a step.
    mutating func putBack(_ search: TraceSearch) { searches.append(search) }
}
