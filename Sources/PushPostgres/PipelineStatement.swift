// SPDX-License-Identifier: Apache-2.0

/// A statement that a pipeline prepares after it has connected.
package struct PipelineStatement: Sendable {
    /// The text with `$1`, `$2` and so on.
    package let sql: StaticString
    /// The types of the parameters.
    package let parameters: [PostgresParameters.Kind]

    package init(_ sql: StaticString, _ parameters: [PostgresParameters.Kind]) {
        self.sql = sql
        self.parameters = parameters
    }
}

/// The statements and ends of batches whose results have not arrived, in order.
struct UnansweredQueue {
    /// One entry of the queue.
    enum Entry: Equatable {
        case statement(Int)
        case sync
    }

    private var entries: [Entry] = []
    private var start = 0

    var count: Int { entries.count - start }
    var first: Entry? { start < entries.count ? entries[start] : nil }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func removeFirst() {
        precondition(start < entries.count, "the queue is empty")
        start += 1
        // The storage is reused, so that a busy pipeline allocates nothing here.
        guard start == entries.count || start >= 1_024 else { return }
        entries.removeFirst(start)
        start = 0
    }
}
