// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
package import PushSQL

/// The trace in PostgreSQL: writes the events of this node, searches those of all nodes, and deletes old ones.
///
/// Each statement is a transaction. One worker of a node uses it.
package final class PostgresTraces {
    /// A search that continues after other work.
    package final class Search {
        let search: TraceSearch

        init(_ search: TraceSearch) { self.search = search }

        /// The address of the answer.
        package var answer: ReplyAddress { search.answer }
        /// The result after the last step.
        package var findings: TraceFindings { search.findings }
    }

    private let table: PostgresTraceTable
    private let origins: TraceOrigins
    private let questions: TraceQuestions
    private let tables: SharedTables
    private let bounds: StoreBounds
    private let hasTrace: Bool
    private let now: () -> Timestamp
    private let selectOwner: any SQLStatement
    private let claim: any SQLStatement
    private var ownerDue = MonotonicTime.past
    private var isOwner = false

    init(
        _ database: any SQLDatabase, _ tables: SharedTables, _ bounds: StoreBounds,
        _ environment: PostgresRequests.Environment
    ) throws(SQLError) {
        table = try PostgresTraceTable(database, node: environment.node)
        origins = TraceOrigins(table)
        questions = TraceQuestions(tables.topics) { device throws(SQLError) in
            try environment.shard(device)?.tables ?? tables
        }
        self.tables = tables
        self.bounds = bounds
        hasTrace = environment.hasTrace
        now = environment.now
        selectOwner = try database.prepare(
            """
            SELECT value FROM state JOIN nodes ON instance = value
            WHERE state.name = 'webhook_owner' AND seen_at > clock_timestamp() - interval '3 seconds'
            """)
        // Another node may have claimed them since, so the condition is checked again.
        claim = try database.prepare(
            """
            INSERT INTO state VALUES ('webhook_owner', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value
            WHERE NOT EXISTS (
                SELECT 1 FROM nodes
                WHERE instance = state.value AND seen_at > clock_timestamp() - interval '3 seconds')
            RETURNING value
            """)
    }

    // MARK: Writing

    /// Writes a row of this node.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - mayExist: Whether an earlier attempt may have written it, because its answer was lost.
    /// - Returns: The end of the trace.
    /// - Throws: The error that PostgreSQL returned.
    package func write(_ row: TraceRow, mayExist: Bool) throws(SQLError) -> Int64 {
        if mayExist, try table.hasAppended(row) { return try table.end() }
        return try table.append(row)
    }

    /// Returns the end of the trace.
    package func end() throws(SQLError) -> Int64 { try table.end() }

    /// Deletes events that are too old or exceed the size limit; returns true when more may be left.
    ///
    /// If the trace is disabled, it deletes all events.
    package func trim() throws(SQLError) -> Bool {
        let oldest = now().advanced(bySeconds: -bounds.traceLifeSeconds)
        return try table.trim(
            olderThan: hasTrace ? oldest : .distantFuture, byteCountMax: bounds.traceByteCountMax)
    }

    // MARK: Searches

    /// Creates a search.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - answer: The address of the answer.
    /// - Returns: The search, or a refusal.
    /// - Throws: The error that PostgreSQL returned.
    package func search(
        _ query: TraceQuery, _ answer: ReplyAddress
    ) throws(SQLError) -> Result<Search, StoreRefusal> {
        guard hasTrace else { return .failure(.traceOff) }
        let waitsSince = now().advanced(byMilliseconds: -PostgresLimits.traceOriginMilliseconds)
        var query = query
        if query.isForWebhook, case .app(let name) = query.subject, let topic = try tables.topics.find(name),
            let webhook = try tables.webhooks.find(topic.topic.id)
        {
            // Another node may have delivered until now.
            query.after = max(query.after, webhook.position)
        }
        return try questions.search(query, answer, waitsSince: waitsSince).map(Search.init)
    }

    /// Continues a search; returns true while more rows are left.
    package func step(_ search: Search) throws(SQLError) -> Bool {
        let byteCountMax = WriterLimits.traceBytesSearchedPerStep
        if try search.search.step(byteCountMax: byteCountMax, table, origins) { return true }
        try questions.complete(search.search)
        return false
    }

    // MARK: Webhooks

    /// Returns whether an instance delivers to webhooks; claims them if no live instance does.
    ///
    /// - Parameter instance: The instance of this node.
    /// - Returns: The answer, which may be half a second old.
    /// - Throws: The error that PostgreSQL returned.
    package func deliversWebhooks(_ instance: Int64) throws(SQLError) -> Bool {
        let now = MonotonicTime.now
        guard now >= ownerDue else { return isOwner }
        isOwner = try owner(instance) == instance
        ownerDue = now.advanced(byMilliseconds: PostgresLimits.webhookOwnerMilliseconds)
        return isOwner
    }

    /// Returns the instance that delivers to webhooks; this one if no other did.
    private func owner(_ instance: Int64) throws(SQLError) -> Int64? {
        do {
            defer { selectOwner.reset() }
            if try selectOwner.step() { return selectOwner.int64(0) }
        }
        claim.bind(instance, at: 1)
        defer { claim.reset() }
        return try claim.step() ? claim.int64(0) : nil
    }
}
