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

    /// Not weak: an object that has weak references counts all references to it aside, at thrice the price.
    private(set) unowned var delegate: (any HTTPSessionDelegate)?
    /// Bytes above which the body of a request counts as too long and pipelined input ends the session.
    package var retainedByteCountMax = HTTPBounds.retainedByteCountMax
    /// Not used: nothing here is counted by time.
    package var nowNanoseconds: UInt64 = 0
    /// Why the session must close, for the log.
    package internal(set) var failure: String?

    /// The one exchange, used again for each request.
    let current = HTTPExchange()
    private let limits: HTTPSessionLimits
    /// Not there while a stream rests, which may be for hours.
    private var parserInUse: HTTP1Parser?
    var inputState = InputState.reading
    /// Input that waits behind the open exchange.
    var waitingInput = ByteQueue()
    /// Heads of answers, which are collected before the body.
    var output: [UInt8] = []
    /// The answer in hand says `connection: close`, or has to.
    var closesAfterAnswer = false
    /// The peer expects `100 Continue` and has not got it, so it may never send the body.
    var owesContinue = false
    /// How the answer's body is put out.
    var bodyFraming = BodyFraming.plain
    var wasAbandoned = false
    var drainedByteCount = 0
    var lastID: Int32 = 0
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
    ///   - delegate: Not retained; lives until `close` was called or the session is gone.
    package init(limits: HTTPSessionLimits, delegate: any HTTPSessionDelegate) {
        self.limits = limits
        self.delegate = delegate
    }

    deinit {
        delegate = nil
        close()
        // A delegate that closed the session from inside `receive` may have been given another exchange since.
        end()
    }

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
        guard !isClosed else { return }
        while hasOutput, collected.count < limit {
            collected.append(contentsOf: output)
            output.removeAll(keepingCapacity: true)
            if isOpen { collectAnswer(into: &collected, limit: limit) }
            readWaitingInput()
        }
        if current.isStreaming, current.answer.body.isEmpty { rest() }
    }

    /// Gives back what only the next request needs.
    private func rest() {
        guard isBetweenRequests else { return }
        output = []
        parserInUse = nil
        current.forgetRequest()
        current.answer.fields = AnswerFields()
        current.answer.body = ByteQueue()
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
    package var awaitsRest: Bool { !isOpen && inputState == .reading && !isBetweenRequests }

    /// Exchanges that are not over: none or one.
    package var openExchangeCount: Int { isOpen ? 1 : 0 }

    /// The exchange that is not over, if there is one.
    package var openExchanges: [HTTPExchange] { isOpen ? [current] : [] }

    /// The open exchange is a stream of which all was sent.
    package var isQuiet: Bool { isOpen && current.isQuiet && !hasOutput && isBetweenRequests }

    /// Finds the open exchange for a late answer.
    package func exchange(_ id: Int32) -> HTTPExchange? { isOpen && current.id == id ? current : nil }

    /// Closes the connection after the exchange in hand, or at once if there is none.
    package func announceShutdown(debugData: [UInt8]) {
        closesAfterAnswer = true
        if !isOpen, inputState == .reading, isBetweenRequests, waitingInput.isEmpty { inputState = .over }
    }

    /// Does what `announceShutdown` does.
    package func finishShutdown(debugData: [UInt8]) { announceShutdown(debugData: debugData) }

    /// Bytes of the open exchange, of what is being read, and of input and output that wait.
    package var retainedByteCount: Int {
        guard !isClosed else { return 0 }
        return current.heldByteCount - HTTPBounds.exchangeByteCount + waitingInput.heldByteCount + output.capacity
            + (parserInUse?.heldByteCount ?? 0)
    }

    /// Does nothing: HTTP/1.1 has no PING.
    package func ping() {}

    /// Does nothing: HTTP/1.1 has one stream.
    package func advertiseStreams(_ count: Int) {}

    /// Does nothing: the owner's deadlines are enough for one exchange at a time.
    package func tick() {}

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

    var parser: HTTP1Parser {
        if let parserInUse { return parserInUse }
        let parser = HTTP1Parser(limits: limits)
        parserInUse = parser
        return parser
    }

    /// Nothing of a next request has come.
    private var isBetweenRequests: Bool { parserInUse?.isBetweenRequests ?? true }

    private var hasAnswerOutput: Bool {
        guard isOpen else { return false }
        switch current.answer.state {
        case .none: return wasAbandoned
        case .streaming: return wasAbandoned || !current.answer.body.isEmpty
        case .whole, .streamEnded: return true
        }
    }
}
