// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushSQL

/// Starts and continues searches of the trace, and deletes its old events.
final class TraceExecutor {
    private let table: TraceTable
    private let origins: TraceOrigins
    private let questions: TraceQuestions
    private let transaction: StoreTransaction
    private let trace: TraceRecorder
    private let bounds: StoreBounds

    init(
        _ tables: StoreTables, _ transaction: StoreTransaction, _ trace: TraceRecorder, _ bounds: StoreBounds
    ) {
        table = tables.trace
        origins = TraceOrigins(tables.trace)
        questions = TraceQuestions(tables)
        self.transaction = transaction
        self.trace = trace
        self.bounds = bounds
    }

    // MARK: Looking

    /// Starts a search that continues between transactions.
    ///
    /// The events in memory are written first, so that the search finds them.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - answer: The address of the answer.
    /// - Returns: The search, or a refusal.
    /// - Throws: The error that SQLite returned.
    func search(_ query: TraceQuery, _ answer: ReplyAddress) throws(SQLError) -> RequestResult {
        guard trace.isOn else { return .failure(.traceOff) }
        switch try questions.search(query, answer) {
        case .success(let search):
            trace.flushSoon()
            return .memoryQuery(.trace(search))
        case .failure(let refusal): return .failure(refusal)
        }
    }

    /// Continues a search; returns true while more rows are left.
    func step(_ search: TraceSearch) throws(SQLError) -> Bool {
        let byteCountMax = WriterLimits.traceBytesSearchedPerStep
        if try search.step(byteCountMax: byteCountMax, table, origins) { return true }
        try questions.complete(search)
        return false
    }

    // MARK: Retention

    /// Deletes events that are too old or exceed the size limit; returns true when more may be left.
    ///
    /// If the trace is disabled, it deletes all events.
    func trim() throws(SQLError) -> Bool {
        let oldest = transaction.now.advanced(bySeconds: -bounds.traceLifeSeconds)
        return try table.trim(
            olderThan: trace.isOn ? oldest : .distantFuture,
            byteCountMax: bounds.traceByteCountMax, end: trace.end)
    }
}
