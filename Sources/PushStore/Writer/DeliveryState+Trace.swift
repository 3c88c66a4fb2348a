// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension DeliveryState {
    // MARK: Searches of the trace

    /// Whether a search is running.
    var isSearching: Bool { !searches.isEmpty }

    /// Adds a search, or refuses it when too many are running.
    mutating func add(_ search: TraceSearch) {
        guard searches.count < Limits.traceSearchCountMax else { return refuse(.tooMany, search.answer) }
        searches.append(search)
    }

    /// Takes the next search in turn.
    mutating func takeSearch() -> TraceSearch? { searches.isEmpty ? nil : searches.removeFirst() }

    /// Queues a search again, or answers it when it is complete.
    mutating func putBack(_ search: TraceSearch, isMore: Bool) {
        if isMore { searches.append(search) } else { perform(.trace(search.findings), search.answer) }
    }
}
