// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// Notifications as the list shows them, newest first, as many as were asked for.
final class InboxFeed {
    /// The first page is small, so that there is something to see at once.
    private static let firstCount = 30
    /// After which it asks for the rest: what came first is on the screen by then.
    private static let restMilliseconds: UInt32 = 100
    private static let pageCount = 500
    /// What one call brings at most.
    private static let answerCountMax = 1000

    private(set) var entries: [EntryFacts] = []
    /// Whether nothing came yet for what is asked now.
    private(set) var isLoading = true
    private(set) var hasMore = false
    /// After which it asks again when it has asked too often.
    private static let pauseMilliseconds: UInt32 = 300
    private let mirror: AgentMirror
    private let onChange: () -> Void
    /// What is asked for.
    private struct Query: Equatable {
        /// Words that must all be there; empty for none.
        var text = ""
        var filter = NotificationRows.Filter.all
    }

    private var query = Query()
    private var wantedCount = InboxFeed.firstCount
    /// One question at a time, however fast somebody types: the agent takes few calls of one caller.
    private var isAsking = false
    private var isToBeAskedAgain = false

    /// Asks nothing yet.
    init(_ mirror: AgentMirror, onChange: @escaping () -> Void) {
        self.mirror = mirror
        self.onChange = onChange
    }

    /// Asks for entries in which all these words are; what is shown stays until the answer is here.
    func search(_ text: String) { change { $0.text = text } }

    /// Asks for entries of another kind, of all that the agent has.
    func choose(_ filter: NotificationRows.Filter) { change { $0.filter = filter } }

    /// Whether everything is asked for.
    var isWhole: Bool { query == Query() }

    /// Asks for the numbers of all that is found, by app: also of what is not loaded.
    func find(_ completion: @escaping ([String: [Int64]]) -> Void, onFailure: @escaping (BusError) -> Void) {
        mirror.agent?.call("FindInbox", [.text(query.text), .string(query.filter.kind)]) { answer in
            switch answer {
            case .success(let values):
                let pairs = values.first?.dictionaryPairs ?? []
                let found = pairs.map { ($0, $1.arrayValue?.compactMap(\.integerValue) ?? []) }
                completion(Dictionary(found, uniquingKeysWith: +))
            case .failure(let error): onFailure(error)
            }
        }
    }

    private func change(_ body: (inout Query) -> Void) {
        let earlier = query
        body(&query)
        guard query != earlier else { return }
        isLoading = true
        wantedCount = Self.firstCount
        reload()
    }

    /// Asks for the same once more.
    func reload() {
        guard !isAsking else {
            isToBeAskedAgain = true
            return
        }
        ask(before: 0, limit: min(wantedCount, Self.answerCountMax), keeping: [])
    }

    /// Asks for older ones.
    func loadMore() {
        guard hasMore, !isAsking, let last = entries.last else { return }
        ask(before: last.entry, limit: Self.pageCount, keeping: entries)
    }

    private func ask(before: Int64, limit: Int, keeping earlier: [EntryFacts]) {
        guard let agent = mirror.agent else { return }
        isAsking = true
        let asked = query
        let arguments: [BusValue] = [
            .text(asked.text), .string(""), .string(asked.filter.kind), .int64(before), .uint32(UInt32(limit)),
        ]
        agent.call("SearchInbox", arguments) { [weak self] answer in
            guard let self else { return }
            isAsking = false
            switch answer {
            case .success(let values) where asked == query:
                let items = values.first?.arrayValue ?? []
                take(earlier + items.map(EntryFacts.init), isFull: items.count == limit)
            // Of another question than that of now, which was asked meanwhile.
            case .success: break
            case .failure(let error):
                if error.name.hasSuffix(".LimitsExceeded") { reloadLater() }
            }
            if isToBeAskedAgain {
                isToBeAskedAgain = false
                reload()
            }
        }
    }

    private func reloadLater() {
        MainLoop.after(milliseconds: Self.pauseMilliseconds) { [weak self] in self?.reload() }
    }

    private func take(_ entries: [EntryFacts], isFull: Bool) {
        self.entries = entries
        hasMore = isFull
        isLoading = false
        wantedCount = max(wantedCount, min(entries.count + Self.firstCount, Self.answerCountMax))
        onChange()
        // The rest of what most people have comes by itself, the older ones when they are scrolled to.
        if entries.count < Self.answerCountMax, !isToBeAskedAgain { loadRest() }
    }

    private func loadRest() {
        let asked = query
        MainLoop.after(milliseconds: Self.restMilliseconds) { [weak self] in
            if let self, asked == query, entries.count < Self.answerCountMax { loadMore() }
        }
    }
}

extension NotificationRows.Filter {
    /// The agent's word for it.
    fileprivate var kind: String {
        switch self {
        case .all: ""
        case .unseen: "unread"
        case .notShown: "suppressed"
        }
    }
}
