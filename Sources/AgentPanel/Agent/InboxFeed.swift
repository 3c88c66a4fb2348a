// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// The loaded part of the inbox, newest first; more entries are loaded on request.
final class InboxFeed {
    /// The size of the first page, which is small so that it appears quickly.
    private static let firstCount = 30
    /// The delay before the next page is requested, so that the first page is drawn by then.
    private static let restMilliseconds: UInt32 = 100
    private static let pageCount = 500
    /// The maximum number of entries in one answer.
    private static let answerCountMax = 1000

    private(set) var entries: [InboxRecord] = []
    /// Whether the first answer to the current query is still missing.
    private(set) var isLoading = true
    private(set) var hasMore = false
    /// The delay before a query is repeated after it failed with `LimitsExceeded`; doubled with each failure in a row.
    private static let pauseMilliseconds: UInt32 = 300
    private static let pauseMillisecondsMax: UInt32 = 30_000
    private var pauseMilliseconds = InboxFeed.pauseMilliseconds
    private let cache: AgentStateCache
    private let onChange: () -> Void
    /// The search words and the filter.
    private struct Query: Equatable {
        /// The words that an entry must all contain; empty for all entries.
        var text = ""
        var filter = InboxFilter.all
    }

    private var query = Query()
    private var wantedCount = InboxFeed.firstCount
    /// Whether a query is in progress; only one runs at a time, because the agent limits the calls of a client.
    private var isAsking = false
    private var isToBeAskedAgain = false

    /// Creates a feed with a filter and without search words; sends no query.
    init(_ cache: AgentStateCache, _ filter: InboxFilter, onChange: @escaping () -> Void) {
        self.cache = cache
        query.filter = filter
        self.onChange = onChange
    }

    /// Searches for entries that contain all words; the current entries stay until the answer arrives.
    ///
    /// - Parameter text: The words.
    /// - Returns: Whether the words are others than before.
    @discardableResult
    func search(_ text: String) -> Bool { change { $0.text = text } }

    /// Applies a filter to all entries of the inbox.
    func choose(_ filter: InboxFilter) { _ = change { $0.filter = filter } }

    /// Whether the query has neither search words nor a filter.
    var isWhole: Bool { query == Query() }

    /// Requests the numbers of all matching entries by app, including entries that are not loaded.
    func find(_ completion: @escaping ([String: [Int64]]) -> Void, onFailure: @escaping (BusError) -> Void) {
        cache.agent?.call(.findInbox, [.text(query.text), .string(query.filter.kind)]) { answer in
            switch answer {
            case .success(let values):
                let pairs = values.first?.dictionaryPairs ?? []
                let found = pairs.map { ($0, $1.arrayValue?.compactMap(\.integerValue) ?? []) }
                completion(Dictionary(found, uniquingKeysWith: +))
            case .failure(let error): onFailure(error)
            }
        }
    }

    private func change(_ body: (inout Query) -> Void) -> Bool {
        let earlier = query
        body(&query)
        guard query != earlier else { return false }
        isLoading = true
        wantedCount = Self.firstCount
        reload()
        return true
    }

    /// Repeats the current query.
    func reload() {
        guard !isAsking else {
            isToBeAskedAgain = true
            return
        }
        ask(before: 0, limit: min(wantedCount, Self.answerCountMax), keeping: [])
    }

    /// Loads the next older entries.
    func loadMore() {
        guard hasMore, !isAsking, let last = entries.last else { return }
        ask(before: last.entry, limit: Self.pageCount, keeping: entries)
    }

    private func ask(before: Int64, limit: Int, keeping earlier: [InboxRecord]) {
        guard let agent = cache.agent else { return }
        isAsking = true
        let asked = query
        let arguments: [BusValue] = [
            .text(asked.text), .string(""), .string(asked.filter.kind), .int64(before), .uint32(UInt32(limit)),
        ]
        agent.call(.searchInbox, arguments) { [weak self] answer in
            guard let self else { return }
            isAsking = false
            switch answer {
            case .success(let values) where asked == query:
                pauseMilliseconds = Self.pauseMilliseconds
                let items = values.first?.arrayValue ?? []
                take(earlier + items.map { InboxRecord($0).withoutUnusedPayload }, isFull: items.count == limit)
            // The query changed meanwhile, so this answer is outdated.
            case .success: break
            case .failure(let error):
                if error.agentCode == .limitsExceeded { reloadLater() }
            }
            if isToBeAskedAgain {
                isToBeAskedAgain = false
                reload()
            }
        }
    }

    private func reloadLater() {
        MainLoop.after(milliseconds: pauseMilliseconds) { [weak self] in self?.reload() }
        pauseMilliseconds = min(pauseMilliseconds * 2, Self.pauseMillisecondsMax)
    }

    private func take(_ entries: [InboxRecord], isFull: Bool) {
        self.entries = entries
        hasMore = isFull
        isLoading = false
        wantedCount = max(wantedCount, min(entries.count + Self.firstCount, Self.answerCountMax))
        onChange()
        // Up to `answerCountMax` entries are loaded automatically; older ones when the user scrolls to the end.
        if entries.count < Self.answerCountMax, !isToBeAskedAgain { loadRest() }
    }

    private func loadRest() {
        let asked = query
        MainLoop.after(milliseconds: Self.restMilliseconds) { [weak self] in
            if let self, asked == query, entries.count < Self.answerCountMax { loadMore() }
        }
    }
}
