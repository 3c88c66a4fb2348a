// SPDX-License-Identifier: Apache-2.0

package import AgentStore
internal import PushAPI
internal import PushCore
package import PushNet
package import PushSQLite

/// Sends reports to the server and repeats them until the server confirms them.
///
/// The reports are the acknowledgements and the filter, both from the database, and whether the machine saves power.
/// Sends while the stream is open, one request of a kind at a time. Unconfirmed reports remain for the next stream or
/// the next run.
package final class OutboxSender {
    /// The maximum number of acknowledgements per request; with their reasons they fit into
    /// `Limits.controlBodyByteCountMax`.
    package static let batchCountMax = min(500, Limits.acknowledgementBatchCountMax)

    /// Gets the SQLite error if the outbox could not be read or cleared.
    package var onFailure: ((SQLiteError) -> Void)?

    /// The preferred way for acknowledgements; if it refuses a batch, a request carries it.
    weak var carrier: (any AcknowledgementCarrier)?

    /// Whether this machine saves power.
    ///
    /// The server forgets it at the end of each stream.
    package var savesPower = false { didSet { if savesPower != oldValue { setNeedsFlush() } } }

    private let database: AgentDatabase
    private let loop: EventLoop
    private let client: ServerClient
    private var isOpen = false
    private var isAcknowledging = false
    private var isFiltering = false
    private var isTellingPower = false
    /// The value that the server of this stream has confirmed.
    private var toldSavesPower = false
    /// The number of the current stream, so that an answer about an earlier one can be ignored.
    private var streamNumber = 0
    private var isFlushDue = false
    private var pause = RetryPause()
    private var retryTimer: TimerID?
    private var onEmpty: (() -> Void)?

    /// Creates an uplink that sends nothing before `open`.
    package init(_ database: AgentDatabase, loop: EventLoop, client: ServerClient) {
        self.database = database
        self.loop = loop
        self.client = client
    }

    /// Starts to send, because the stream is open.
    package func open() {
        isOpen = true
        streamNumber += 1
        toldSavesPower = false
        pause.reset()
        flush()
    }

    /// Stops sending, because the stream is closed.
    package func close() {
        isOpen = false
        if let retryTimer { loop.cancel(retryTimer) }
        retryTimer = nil
        reportEmpty()
    }

    /// Schedules a flush at the end of the loop's turn, so that reports of the same turn share a request.
    package func setNeedsFlush() {
        guard isOpen, !isFlushDue else { return }
        isFlushDue = true
        loop.atEndOfTurn { [weak self] in
            self?.isFlushDue = false
            self?.flush()
        }
    }

    /// Calls back once nothing is left to send, or nothing can be sent.
    package func whenEmpty(_ action: @escaping () -> Void) {
        onEmpty = action
        flush()
    }

    private func flush() {
        guard isOpen, retryTimer == nil else { return reportEmpty() }
        do {
            try acknowledge()
            try sendFilter()
            tellPower()
            if !isAcknowledging, !isFiltering { reportEmpty() }
        } catch {
            onFailure?(error)
        }
    }

    private func reportEmpty() {
        let action = onEmpty
        onEmpty = nil
        action?()
    }

    // MARK: Acknowledgements

    private func acknowledge() throws(SQLiteError) {
        guard !isAcknowledging, let batch = try database.outbox.oldest(countMax: Self.batchCountMax) else { return }
        isAcknowledging = true
        let completion: (Result<Void, ServerFailure>) -> Void = { [weak self] result in
            guard let self else { return }
            isAcknowledging = false
            confirm(result, "acknowledgements_refused") { database throws(SQLiteError) in
                try database.outbox.remove(upTo: batch.lastPosition)
            }
        }
        if carrier?.acknowledge(batch.acknowledgements, completion: completion) != true {
            client.acknowledge(batch.acknowledgements, completion: completion)
        }
    }

    // MARK: The filter

    private func sendFilter() throws(SQLiteError) {
        guard !isFiltering, try database.facts.value(of: .isFilterDue) == 1 else { return }
        let topics = try database.refusedTopics()
        isFiltering = true
        client.setFilter(.init(refusedTopics: Array(topics.prefix(Limits.filterTopicCountMax)))) { [weak self] result in
            guard let self else { return }
            isFiltering = false
            confirm(result, "filter_refused") { database throws(SQLiteError) in
                // The user may have changed a switch while the request was running.
                let isStillTrue = try database.refusedTopics() == topics
                if isStillTrue { try database.facts.set(.isFilterDue, to: 0) }
            }
        }
    }

    // MARK: Power

    private func tellPower() {
        guard !isTellingPower, savesPower != toldSavesPower else { return }
        isTellingPower = true
        let (told, stream) = (savesPower, streamNumber)
        client.setPower(.init(saving: told)) { [weak self] result in
            guard let self else { return }
            isTellingPower = false
            confirm(result, "power_refused") { [weak self] _ in
                if self?.streamNumber == stream { self?.toldSavesPower = told }
            }
        }
    }

    // MARK: Answers

    private func confirm(
        _ result: Result<Void, ServerFailure>, _ refusal: StaticString,
        _ settle: (AgentDatabase) throws(SQLiteError) -> Void
    ) {
        switch result {
        case .success: pause.reset()
        case .failure(let error) where error.isFinal:
            // The server would refuse a retry in the same way.
            agentLog.warning(refusal, ["error": error.message])
        case .failure(let error):
            agentLog.warning("uplink_failed", ["error": error.message])
            return retryLater(after: error)
        }
        do {
            try database.transaction { () throws(SQLiteError) in try settle(database) }
            flush()
        } catch {
            onFailure?(error)
        }
    }

    private func retryLater(after error: ServerFailure) {
        guard isOpen, retryTimer == nil else { return reportEmpty() }
        retryTimer = loop.schedule(after: pause.next(asked: error.retryAfter)) { [weak self] in
            self?.retryTimer = nil
            self?.flush()
        }
        reportEmpty()
    }
}

extension ServerFailure {
    /// Whether the server would refuse the same request again.
    ///
    /// True for a 4xx status except 408 and 429, which mean "try later", and 401, which the stream detects and handles.
    var isFinal: Bool {
        switch self {
        case .refused(let status, _, _, _):
            (400..<500).contains(status) && status != 401 && status != 408 && status != 429
        case .unreachable, .notTrusted, .badFile, .unintelligible: false
        }
    }
}
