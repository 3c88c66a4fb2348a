// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL
internal import PushStore

/// The part of a worker that writes events and delivery histories, and searches the trace.
///
/// Rows that PostgreSQL did not take wait for the next write. Searches take turns, one step each, between other jobs.
final class HistoryWork {
    private let instance: InstanceID
    private let hasTrace: Bool
    private let connections: ShardConnections
    private let report: @Sendable (RequestWorker.Outcome) -> Void
    private var rows = FIFOQueue<TraceRow>()
    private var byteCount = 0
    /// Whether PostgreSQL may already have the first row, because the answer to its last write was lost.
    private var mayExist = false
    private var histories: [DeliveryHistory.Copy] = []
    private var searches = FIFOQueue<PostgresTraces.Search>()
    private var trimDue = MonotonicTime.past

    init(
        _ instance: InstanceID, hasTrace: Bool, _ connections: ShardConnections,
        report: @escaping @Sendable (RequestWorker.Outcome) -> Void
    ) {
        self.instance = instance
        self.hasTrace = hasTrace
        self.connections = connections
        self.report = report
    }

    /// Whether a search has more steps.
    var isSearching: Bool { !searches.isEmpty }

    // MARK: Writing

    /// Keeps events and histories until `write` has written them.
    func add(_ events: [TraceEvent], _ copies: [DeliveryHistory.Copy]) {
        for row in TraceRow.pack(events) where byteCount < ClusterLimits.traceBufferByteCountMax {
            rows.append(row)
            byteCount += row.events.count
        }
        histories += copies.prefix(max(ClusterLimits.unwrittenHistoryCountMax - histories.count, 0))
    }

    /// Writes what was added, and deletes old events from time to time.
    func write() throws(SQLError) {
        let traces = try connections.control().traces
        while let row = rows.first {
            let isRepeated = mayExist
            mayExist = true
            report(.traceEnd(try traces.write(row, mayExist: isRepeated)))
            mayExist = false
            _ = rows.popFirst()
            byteCount -= row.events.count
        }
        let isComplete = try writeHistories()
        if hasTrace, trimDue <= .now {
            if try !traces.trim() {
                trimDue = MonotonicTime.now.advanced(byMilliseconds: ClusterLimits.traceTrimMilliseconds)
            }
        }
        report(.historyWritten(isComplete: isComplete))
    }

    /// Writes the histories to their shards; keeps those of shards that fail, and of devices that move.
    ///
    /// - Returns: Whether all histories were written.
    /// - Throws: The error of the last shard that failed.
    private func writeHistories() throws(SQLError) -> Bool {
        var failure: SQLError?
        var kept: [DeliveryHistory.Copy] = []
        for (shard, copies) in Dictionary(grouping: histories, by: { connections.shard(of: $0.device) }) {
            var rest = copies.filter { !connections.isMoving($0.device) }
            kept += copies.filter { connections.isMoving($0.device) }
            do throws(SQLError) {
                while !rest.isEmpty {
                    let part = Array(rest.prefix(ClusterLimits.historiesPerTransactionCountMax))
                    try connections.requests(ofShard: shard).write(part)
                    rest.removeFirst(part.count)
                }
            } catch {
                connections.close(after: error)
                failure = error
                kept += rest
            }
        }
        histories = kept
        if let failure { throw failure }
        return kept.isEmpty
    }

    /// Reports that a write failed, so that it is tried again.
    func noteFailedWrite() { report(.historyWritten(isComplete: false)) }

    // MARK: Searches

    /// Starts a search, or answers it.
    func search(_ query: TraceQuery, _ answer: ReplyAddress) throws(SQLError) {
        let traces = try connections.requests(ofShard: connections.sharded.shard(of: query)).traces
        if query.isForWebhook {
            let isDelivering = try traces.deliversWebhooks(instance.rawValue)
            report(.traceEnd(try traces.end()))
            guard isDelivering else { return finish(.success(.trace(TraceFindings(next: query.after))), answer) }
        }
        switch try traces.search(query, answer) {
        case .success(let search):
            guard searches.count < Limits.traceSearchCountMax else { return finish(.failure(.tooMany), answer) }
            searches.append(search)
        case .failure(let refusal): finish(.failure(refusal), answer)
        }
    }

    /// Makes one step of the next search.
    func continueSearch() throws(SQLError) {
        guard let search = searches.popFirst() else { return }
        do throws(SQLError) {
            if try connections.control().traces.step(search) { return searches.append(search) }
        } catch {
            searches.append(search)
            throw error
        }
        finish(.success(.trace(search.findings)), search.answer)
    }

    /// Refuses all searches, because PostgreSQL does not answer.
    func refuseSearches(_ refusal: StoreRefusal) {
        while let search = searches.popFirst() { finish(.failure(refusal), search.answer) }
    }

    private func finish(_ result: Result<StoreAnswer, StoreRefusal>, _ answer: ReplyAddress) {
        report(.performed(.init(result: result), answer: answer))
    }
}
