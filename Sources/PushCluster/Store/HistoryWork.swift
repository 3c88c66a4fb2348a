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
    private let report: @Sendable (RequestWorker.Outcome) -> Void
    private var rows = FIFOQueue<TraceRow>()
    private var byteCount = 0
    /// Whether the first row may be written, because the answer was lost.
    private var mayExist = false
    private var histories: [DeliveryHistory.Copy] = []
    private var searches = FIFOQueue<PostgresTraces.Search>()
    private var trimDue = MonotonicTime.past

    init(
        _ instance: InstanceID, hasTrace: Bool, report: @escaping @Sendable (RequestWorker.Outcome) -> Void
    ) {
        self.instance = instance
        self.hasTrace = hasTrace
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
    func write(to requests: PostgresRequests) throws(SQLError) {
        while let row = rows.first {
            let isRepeated = mayExist
            mayExist = true
            report(.traceEnd(try requests.traces.write(row, mayExist: isRepeated)))
            mayExist = false
            _ = rows.popFirst()
            byteCount -= row.events.count
        }
        while !histories.isEmpty {
            let part = Array(histories.prefix(ClusterLimits.historiesPerTransactionCountMax))
            try requests.write(part)
            histories.removeFirst(part.count)
        }
        if hasTrace, trimDue <= .now {
            if try !requests.traces.trim() {
                trimDue = MonotonicTime.now.advanced(byMilliseconds: ClusterLimits.traceTrimMilliseconds)
            }
        }
        report(.historyWritten(isComplete: true))
    }

    /// Reports that a write failed, so that it is tried again.
    func noteFailedWrite() { report(.historyWritten(isComplete: false)) }

    // MARK: Searches

    /// Starts a search, or answers it.
    func search(_ query: TraceQuery, _ answer: ReplyAddress, _ requests: PostgresRequests) throws(SQLError) {
        if query.isForWebhook {
            let isDelivering = try requests.traces.deliversWebhooks(instance.rawValue)
            report(.traceEnd(try requests.traces.end()))
            guard isDelivering else { return finish(.success(.trace(TraceFindings(next: query.after))), answer) }
        }
        switch try requests.traces.search(query, answer) {
        case .success(let search):
            guard searches.count < Limits.traceSearchCountMax else { return finish(.failure(.tooMany), answer) }
            searches.append(search)
        case .failure(let refusal): finish(.failure(refusal), answer)
        }
    }

    /// Makes one step of the next search.
    func continueSearch(_ requests: PostgresRequests) throws(SQLError) {
        guard let search = searches.popFirst() else { return }
        do throws(SQLError) {
            if try requests.traces.step(search) { return searches.append(search) }
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
