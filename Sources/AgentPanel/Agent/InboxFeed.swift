// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// Notifications as the list shows them, newest first, as many as were asked for.
final class InboxFeed {
    /// The first page is small, so that there is something to see at once.
    private static let firstCount = 60
    private static let pageCount = 500
    /// What one call brings at most.
    private static let answerCountMax = 1000

    private(set) var entries: [EntryFacts] = []
    /// Whether nothing came yet for what is asked now.
    private(set) var isLoading = true
    private(set) var hasMore = false
    private let mirror: AgentMirror
    private let onChange: () -> Void
    private var text = ""
    private var wantedCount = InboxFeed.firstCount
    /// Answers to earlier questions are too late.
    private var question = 0
    private var isAsking = false
    private var isToBeAskedAgain = false

    /// Asks nothing yet.
    init(_ mirror: AgentMirror, onChange: @escaping () -> Void) {
        self.mirror = mirror
        self.onChange = onChange
    }

    /// Asks for entries in which all these words are; what is shown stays until the answer is here.
    func search(_ text: String) {
        guard text != self.text else { return }
        self.text = text
        question += 1
        isAsking = false
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
        let asked = question
        let arguments: [BusValue] = [
            .text(text), .string(""), .bool(false), .int64(before), .uint32(UInt32(limit)),
        ]
        agent.call("SearchInbox", arguments) { [weak self] answer in
            guard let self, asked == question else { return }
            isAsking = false
            if case .success(let values) = answer {
                let items = values.first?.arrayValue ?? []
                take(earlier + items.map(EntryFacts.init), isFull: items.count == limit)
            }
            if isToBeAskedAgain {
                isToBeAskedAgain = false
                reload()
            }
        }
    }

    private func take(_ entries: [EntryFacts], isFull: Bool) {
        self.entries = entries
        hasMore = isFull
        isLoading = false
        wantedCount = max(wantedCount, min(entries.count + Self.firstCount, Self.answerCountMax))
        onChange()
        // The rest of what most people have comes by itself, the older ones when they are scrolled to.
        if entries.count < Self.answerCountMax, !isToBeAskedAgain { loadMore() }
    }
}
