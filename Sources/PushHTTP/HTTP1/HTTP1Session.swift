// SPDX-License-Identifier: Apache-2.0

/// Strict HTTP/1.1: one exchange at a time, no pipelining beyond the buffer, chunked answers for streams.
///
/// An exchange is over when its answer was collected. What comes behind its request waits until then, so that answers
/// keep their order. An answer that is given before the request has ended closes the connection, but only after the
/// rest of the request was read and dropped (up to a bound): a socket that is closed with unread input is reset, and the
/// peer might never see the answer.
package final class HTTP1Session: HTTPSession {
    /// What becomes of input.
    enum InputState {
        /// A request is being read, or the next is waited for.
        case reading
        /// The request was read; its exchange is open, and input waits.
        case waiting
        /// The answer is out and the rest of the request is read and dropped.
        case draining
        /// Input is ignored.
        case over
    }

    private(set) weak var delegate: (any HTTPSessionDelegate)?
    /// Not used: nothing here is counted by time.
    package var nowNanoseconds: UInt64 = 0
    /// Why the session must close, for the log.
    package private(set) var failure: String?

    /// The one exchange, used again for each request.
    let current = HTTPExchange()
    var parser: HTTP1Parser
    var inputState = InputState.reading
    /// Input that waits behind the open exchange.
    private var waitingInput: [UInt8] = []
    /// Heads of answers, which are collected before the body.
    var output: [UInt8] = []
    /// The answer in hand says `connection: close`, or has to.
    var closesAfterAnswer = false
    /// The peer expects `100 Continue` and has not got it, so it may never send the body.
    var owesContinue = false
    /// How the answer's body is put out.
    var bodyFraming = BodyFraming.plain
    private var wasAbandoned = false
    private var drainedByteCount = 0
    private var lastID: Int32 = 0
    private var isClosed = false

    /// How an answer's body goes out.
    enum BodyFraming {
        /// Byte for byte.
        case plain
        /// In chunks.
        case chunked
        /// Not at all, since the request was HEAD or the status has no body.
        case none
    }

    /// Makes a server's session.
    ///
    /// - Parameters:
    ///   - limits: `headerListByteCountMax` and `headerFieldCountMax` count here.
    ///   - delegate: Not retained.
    package init(limits: HTTPSessionLimits, delegate: any HTTPSessionDelegate) {
        parser = HTTP1Parser(limits: limits)
        self.delegate = delegate
    }

    deinit { close() }

    /// Takes bytes from the peer; false when the session must close.
    ///
    /// - Parameter bytes: In pieces of any size.
    /// - Returns: Whether the session goes on.
    package func receive(_ bytes: Span<UInt8>) -> Bool {
        guard failure == nil, !isClosed else { return false }
        if waitingInput.isEmpty {
            keep(bytes.extracting(read(bytes)..<bytes.count))
        } else {
            keep(bytes)
        }
        return failure == nil
    }

    /// Appends output until about `limit` bytes are in the buffer, and reads a request that waited.
    ///
    /// - Parameters:
    ///   - collected: Gets the bytes; the head of an answer is never split.
    ///   - limit: Bytes.
    package func collectOutput(into collected: inout [UInt8], limit: Int) {
        while hasOutput, collected.count < limit {
            collected.append(contentsOf: output)
            output.removeAll(keepingCapacity: true)
            if isOpen { collectAnswer(into: &collected, limit: limit) }
            readWaitingInput()
        }
    }

    /// Requests whose head came whole.
    package var completedMessageCount: UInt64 { UInt64(lastID) }

    /// There is output to collect.
    package var hasOutput: Bool {
        guard !isClosed else { return false }
        return !output.isEmpty || hasAnswerOutput || (!waitingInput.isEmpty && inputState == .reading)
    }

    /// Nothing more will come or go: close the connection once output is flushed.
    package var isFinished: Bool {
        isClosed || (inputState == .over && !isOpen && !hasOutput)
    }

    /// A part of a request's head has come, but not its rest.
    package var awaitsRest: Bool { !isOpen && inputState == .reading && !parser.isBetweenRequests }

    /// Exchanges that are not over: none or one.
    package var openExchangeCount: Int { isOpen ? 1 : 0 }

    /// Finds the open exchange for a late answer.
    package func exchange(_ id: Int32) -> HTTPExchange? { isOpen && current.id == id ? current : nil }

    /// Closes the connection after the exchange in hand, or at once if there is none.
    package func announceShutdown(debugData: [UInt8]) {
        closesAfterAnswer = true
        if !isOpen, inputState == .reading, parser.isBetweenRequests, waitingInput.isEmpty { inputState = .over }
    }

    /// Does what `announceShutdown` does.
    package func finishShutdown(debugData: [UInt8]) { announceShutdown(debugData: debugData) }

    /// Does nothing: HTTP/1.1 has no PING.
    package func ping() {}

    /// Zero: HTTP/1.1 has no PING.
    package var unansweredPingCount: Int { 0 }

    /// Ends the open exchange, because the connection is gone; afterwards the session does nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        inputState = .over
        end()
    }

    var isOpen: Bool { current.isOpen }

    private var hasAnswerOutput: Bool {
        guard isOpen else { return false }
        switch current.answer.state {
        case .none: return wasAbandoned
        case .streaming: return wasAbandoned || !current.answer.body.isEmpty
        case .whole, .streamEnded: return true
        }
    }
}

// MARK: - Requests

extension HTTP1Session {
    /// Reads requests until one has to wait; returns how much was read.
    private func read(_ bytes: Span<UInt8>) -> Int {
        var index = 0
        while inputState == .reading || inputState == .draining {
            switch parser.next(bytes, &index) {
            case .needsMore: return index
            case .headEnded: headEnded()
            case .body(let range): bodyArrived(bytes.extracting(range))
            case .requestEnded: requestEnded()
            case .failed(let failure): fail(failure)
            }
        }
        return inputState == .over ? bytes.count : index
    }

    private func keep(_ bytes: Span<UInt8>) {
        guard inputState != .over, bytes.count > 0 else { return }
        guard waitingInput.count + bytes.count <= HTTPBounds.pipelinedByteCountMax else {
            failure = "the peer sent too much behind an unanswered request"
            inputState = .over
            waitingInput = []
            return
        }
        waitingInput.append(bytes)
    }

    private func readWaitingInput() {
        guard !waitingInput.isEmpty, inputState == .reading || inputState == .draining else { return }
        let input = waitingInput
        waitingInput = []
        keep(input.span.extracting(read(input.span)..<input.count))
    }

    private func headEnded() {
        lastID = lastID == Int32.max ? 1 : lastID + 1
        current.attach(to: self, id: lastID)
        current.isAnnounced = true
        current.head.method = parser.head.method
        current.head.path = parser.head.path
        swap(&current.head.fields, &parser.head.fields)
        current.requestEnded = parser.head.framing == .length(0)
        closesAfterAnswer = closesAfterAnswer || !parser.head.keepsAlive
        owesContinue = parser.head.expectsContinue && !current.requestEnded
        delegate?.headArrived(current)
        if owesContinue, !current.isAnswered { answerExpectation() }
    }

    /// Invites the body, unless it is known to be too long.
    private func answerExpectation() {
        if case .length(let byteCount) = parser.head.framing, byteCount > current.bodyByteCountMax {
            current.requestBody.overflowed = true
            current.handOn(to: delegate)
            return
        }
        owesContinue = false
        output.append("HTTP/1.1 100 Continue\r\n\r\n")
    }

    private func bodyArrived(_ bytes: Span<UInt8>) {
        owesContinue = false
        if current.isAnswered || current.bodyOverflowed || inputState == .draining {
            drainedByteCount += bytes.count
            if drainedByteCount > HTTPBounds.drainedByteCountMax { inputState = .over }
            return
        }
        current.bodyArrived(bytes, for: delegate)
    }

    private func requestEnded() {
        if inputState == .draining || closesUnread {
            inputState = .over
            return
        }
        inputState = .waiting
        current.requestEnded = true
        current.handOn(to: delegate)
    }

    /// The answer was begun before the request had ended.
    private var closesUnread: Bool { current.isAnswered && !current.requestEnded }

    /// Answers a request that cannot be read, unless its answer has begun.
    private func fail(_ problem: HTTP1Failure) {
        inputState = .over
        guard failure == nil else { return }
        failure = problem.reason
        guard !current.isAnswered else { return }
        end()
        appendErrorAnswer(status: problem.status)
    }
}

// MARK: - Answers

extension HTTP1Session: ExchangeOwner {
    func submitAnswer(of exchange: HTTPExchange, status: Int) {
        if !current.requestEnded { closesAfterAnswer = true }
        appendAnswerHead(status: status)
    }

    /// Nothing to wake: the owner looks at `hasOutput`.
    func streamGrew(_ exchange: HTTPExchange) {}

    func abandon(_ exchange: HTTPExchange) {
        wasAbandoned = true
        inputState = .over
    }

    private func collectAnswer(into collected: inout [UInt8], limit: Int) {
        if wasAbandoned {
            end()
            return
        }
        collectBody(into: &collected, limit: limit)
        guard current.answer.body.isEmpty else { return }
        switch current.answer.state {
        case .none, .streaming: return
        case .whole: break
        case .streamEnded: if bodyFraming == .chunked { collected.append("0\r\n\r\n") }
        }
        end()
        startOver()
    }

    /// After an answer: the next request, the rest of this one, or the end.
    private func startOver() {
        switch inputState {
        case .reading: inputState = owesContinue ? .over : .draining
        case .waiting: inputState = closesAfterAnswer ? .over : .reading
        case .draining, .over: break
        }
    }

    private func end() {
        guard isOpen else { return }
        current.detach()
        if current.isAnnounced { delegate?.exchangeEnded(current) }
        current.reset()
        wasAbandoned = false
    }
}
