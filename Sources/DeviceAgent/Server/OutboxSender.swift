// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushSQL

/// Sends reports to the server and repeats them until the server confirms them.
///
/// The reports are the acknowledgements and the filter, both from the database, and whether the machine saves power.
/// Sends while the stream is open, one request of a kind at a time. Unconfirmed reports remain for the next stream or
/// the next run.
final class OutboxSender {
    /// The maximum number of acknowledgements per request; with their reasons they fit into
    /// `Limits.controlBodyByteCountMax`.
    static let batchCountMax = min(500, Limits.acknowledgementBatchCountMax)

    /// Called with the SQLite error if the outbox could not be read or cleared.
    var onFailure: ((SQLError) -> Void)?

    /// The preferred way for acknowledgements; if it refuses a batch, a request carries it.
    weak var carrier: (any AcknowledgementCarrier)?

    /// Whether this machine saves power.
    ///
    /// The server forgets it at the end of each stream.
    var savesPower = false { didSet { if savesPower != oldValue { setNeedsFlush() } } }

    private let database: AgentDatabase
    private let loop: EventLoop
    private let client: ServerClient
    private var state = State.closed
    /// The requests that the server has not answered; those of an earlier stream, too.
    private var running: Set<Report> = []
    /// The number of streams so far, so that an answer about an earlier one can be ignored.
    private var streamCount = 0
    private var isFlushDue = false
    private var pause = RetryPause()
    private var onEmpty: (() -> Void)?

    /// Whether reports can be sent.
    ///
    /// ```
    /// closed ──open()──▶ open ──a report failed──▶ pausing
    ///    ▲                │ ▲──────── timer ─────────┘ │
    ///    └──── close() ───┴────────────────────────────┘
    /// ```
    private enum State {
        case closed
        /// The stream is open; the server has confirmed this value of `savesPower`.
        case open(savesPower: Bool)
        /// A report failed on the open stream; the timer ends the pause.
        case pausing(TimerID, savesPower: Bool)
    }

    /// A kind of report.
    private enum Report {
        case acknowledgements, filter, power
    }

    /// Creates a sender that sends nothing before `open`.
    init(_ database: AgentDatabase, loop: EventLoop, client: ServerClient) {
        self.database = database
        self.loop = loop
        self.client = client
    }

    /// Starts to send, because the stream is open.
    func open() {
        cancelTimer()
        state = .open(savesPower: false)
        streamCount += 1
        pause.reset()
        flush()
    }

    /// Stops sending, because the stream is closed.
    func close() {
        cancelTimer()
        state = .closed
        reportEmpty()
    }

    private func cancelTimer() {
        if case .pausing(let timer, _) = state { loop.cancel(timer) }
    }

    /// Schedules a flush at the end of the loop's turn, so that reports of the same turn share a request.
    func setNeedsFlush() {
        if case .closed = state { return }
        guard !isFlushDue else { return }
        isFlushDue = true
        loop.atEndOfTurn { [weak self] in
            self?.isFlushDue = false
            self?.flush()
        }
    }

    /// Calls back once nothing is left to send, or nothing can be sent.
    func whenEmpty(_ action: @escaping () -> Void) {
        onEmpty = action
        flush()
    }

    private func flush() {
        guard case .open(let confirmed) = state else { return reportEmpty() }
        do {
            try acknowledge()
            try sendFilter()
            sendPowerState(confirmed: confirmed)
            if running.isDisjoint(with: [.acknowledgements, .filter]) { reportEmpty() }
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

    private func acknowledge() throws(SQLError) {
        guard !running.contains(.acknowledgements),
            let batch = try database.outbox.oldest(countMax: Self.batchCountMax)
        else { return }
        running.insert(.acknowledgements)
        let completion: (Result<Void, ServerFailure>) -> Void = { [weak self] result in
            self?.confirm(.acknowledgements, result, "acknowledgements_refused") { database throws(SQLError) in
                try database.outbox.remove(upTo: batch.lastPosition)
            }
        }
        if carrier?.acknowledge(batch.acknowledgements, completion: completion) == true { return }
        loop.startTask { [client] in
            completion(
                await Result { () async throws(ServerFailure) in try await client.acknowledge(batch.acknowledgements) })
        }
    }

    // MARK: The filter

    private func sendFilter() throws(SQLError) {
        guard !running.contains(.filter), try database.state.value(of: .isFilterDue) == 1 else { return }
        let topics = try database.refusedTopics()
        running.insert(.filter)
        loop.startTask { [weak self, client] in
            let filter = DeviceAPI.Filter(refusedTopics: Array(topics.prefix(Limits.filterTopicCountMax)))
            let result = await Result { () async throws(ServerFailure) in try await client.setFilter(filter) }
            self?.confirm(.filter, result, "filter_refused") { database throws(SQLError) in
                // The user may have changed a switch while the request was running.
                let isStillTrue = try database.refusedTopics() == topics
                if isStillTrue { try database.state.set(.isFilterDue, to: 0) }
            }
        }
    }

    // MARK: Power

    private func sendPowerState(confirmed: Bool) {
        guard !running.contains(.power), savesPower != confirmed else { return }
        running.insert(.power)
        let (sentValue, stream) = (savesPower, streamCount)
        loop.startTask { [weak self, client] in
            let result = await Result { () async throws(ServerFailure) in
                try await client.setPower(.init(saving: sentValue))
            }
            self?.confirm(.power, result, "power_refused") { [weak self] _ in
                self?.confirmPower(sentValue, onStream: stream)
            }
        }
    }

    private func confirmPower(_ sentValue: Bool, onStream number: Int) {
        guard number == streamCount else { return }
        switch state {
        case .closed: break
        case .open: state = .open(savesPower: sentValue)
        case .pausing(let timer, _): state = .pausing(timer, savesPower: sentValue)
        }
    }

    // MARK: Answers

    private func confirm(
        _ report: Report, _ result: Result<Void, ServerFailure>, _ refusal: StaticString,
        _ settle: (AgentDatabase) throws(SQLError) -> Void
    ) {
        running.remove(report)
        switch result {
        case .success: pause.reset()
        case .failure(let error) where error.isFinal:
            // The server would refuse a retry in the same way.
            agentLog.warning(refusal, ["error": error.message])
        case .failure(let error):
            agentLog.warning("report_failed", ["error": error.message])
            return retryLater(after: error)
        }
        do {
            try database.transaction { () throws(SQLError) in try settle(database) }
            flush()
        } catch {
            onFailure?(error)
        }
    }

    private func retryLater(after error: ServerFailure) {
        guard case .open(let confirmed) = state else { return reportEmpty() }
        let timer = loop.schedule(after: pause.next(asked: error.retryAfter)) { [weak self] in self?.endPause() }
        state = .pausing(timer, savesPower: confirmed)
        reportEmpty()
    }

    private func endPause() {
        guard case .pausing(_, let confirmed) = state else { return }
        state = .open(savesPower: confirmed)
        flush()
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
