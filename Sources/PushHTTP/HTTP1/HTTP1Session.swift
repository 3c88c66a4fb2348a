// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// A strict HTTP/1.1 session: one exchange at a time, bounded pipelining, and chunked answers for streams.
///
/// An exchange ends when its answer was collected. Input behind its request waits until then, so that answers keep
/// their order. An answer that is given before the end of the request closes the connection, but only after the rest of
/// the request was read and discarded (up to a bound). A socket that is closed with unread input sends a reset, and the
/// peer might never see the answer.
package final class HTTP1Session: HTTPSession {
    /// The handling of input.
    enum InputState {
        /// A request is being read or expected.
        case reading
        /// The request was read and its exchange is open; further input waits.
        case waiting
        /// The answer was sent, and the rest of the request is read and discarded.
        case draining
        /// Input is ignored.
        case over
    }

    /// Not weak: an object with weak references keeps its counters in a side table, which triples the cost of every
    /// reference.
    private(set) unowned var delegate: (any HTTPSessionDelegate)?
    /// The number of bytes above which a request's body counts as too long and pipelined input ends the session.
    package var retainedByteCountMax = HTTPBounds.retainedByteCountMax
    /// The time of the turn, which HTTP/1.1 ignores because it limits no rates.
    package var now = MonotonicTime.past
    /// The reason why the session must close, for the log.
    package internal(set) var failure: String?

    /// The only exchange, reused for each request.
    let current = HTTPExchange()
    private let limits: HTTPSessionLimits
    /// The parser; nil while a stream is idle, which may last for hours.
    private var parserInUse: HTTP1Parser?
    var inputState = InputState.reading
    /// The input that waits behind the open exchange.
    var waitingInput = ByteQueue()
    /// The heads of answers, which are collected before the body.
    var output: [UInt8] = []
    /// Whether the current answer says, or must say, `connection: close`.
    var closesAfterAnswer = false
    /// Whether the peer waits for `100 Continue`, so that it may never send the body.
    var owesContinue = false
    /// The framing of the current answer's body.
    var bodyFraming = BodyFraming.plain
    var wasAbandoned = false
    var drainedByteCount = 0
    var lastID: Int32 = 0
    private var isClosed = false

    /// The framing of an answer's body.
    enum BodyFraming {
        /// The body as it is, without framing.
        case plain
        /// The body in chunks.
        case chunked
        /// No body, since the request was HEAD or the status has no body.
        case none
    }

    /// Creates a server session.
    ///
    /// - Parameters:
    ///   - limits: The limits, of which `headerListByteCountMax` and `headerFieldCountMax` apply to HTTP/1.1.
    ///   - delegate: The owner, which is not retained; it must live until `close` was called or the session is
    ///     deallocated.
    package init(limits: HTTPSessionLimits, delegate: any HTTPSessionDelegate) {
        self.limits = limits
        self.delegate = delegate
    }

    deinit {
        delegate = nil
        close()
        // A delegate that closed the session from inside `receive` may have received another exchange since.
        end()
    }

    /// Processes bytes from the peer.
    ///
    /// - Parameter bytes: The input, in pieces of any size.
    /// - Returns: False if the session must close.
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
    ///   - collected: The buffer, which receives the bytes; the head of an answer is never split.
    ///   - limit: The size in bytes at which to stop.
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

    /// Releases the memory that only the next request needs.
    private func rest() {
        guard isBetweenRequests else { return }
        output = []
        parserInUse = nil
        current.forgetRequest()
        current.answer.fields = AnswerFields()
        current.answer.body = ByteQueue()
    }

    /// Whether no input waits behind the open exchange.
    ///
    /// Because of this, a peer can send only as fast as the server answers.
    package var acceptsInput: Bool { waitingInput.isEmpty }

    /// The number of complete request heads received.
    package var completedMessageCount: UInt64 { UInt64(lastID) }

    /// Whether output is waiting to be collected.
    package var hasOutput: Bool {
        guard !isClosed else { return false }
        return !output.isEmpty || hasAnswerOutput || (!waitingInput.isEmpty && inputState == .reading)
    }

    /// Whether no more input or output will follow: close the connection once the output is flushed.
    package var isFinished: Bool {
        isClosed || (inputState == .over && !isOpen && !hasOutput)
    }

    /// Whether a request's head has been received only in part.
    package var awaitsRest: Bool { !isOpen && inputState == .reading && !isBetweenRequests }

    /// The number of open exchanges: 0 or 1.
    package var openExchangeCount: Int { isOpen ? 1 : 0 }

    /// The open exchange, if any.
    package var openExchanges: [HTTPExchange] { isOpen ? [current] : [] }

    /// Whether the open exchange is a stream whose data was all sent.
    package var isQuiet: Bool { isOpen && current.isQuiet && !hasOutput && isBetweenRequests }

    /// Returns the open exchange if it has this identifier, for a late answer.
    package func exchange(_ id: Int32) -> HTTPExchange? { isOpen && current.id == id ? current : nil }

    /// Closes the connection after the current exchange, or immediately if none is open.
    package func announceShutdown(debugData: [UInt8]) {
        closesAfterAnswer = true
        if !isOpen, inputState == .reading, isBetweenRequests, waitingInput.isEmpty { inputState = .over }
    }

    /// Does the same as `announceShutdown`.
    package func finishShutdown(debugData: [UInt8]) { announceShutdown(debugData: debugData) }

    /// The number of bytes in the open exchange, the parser, and waiting input and output.
    package var retainedByteCount: Int {
        guard !isClosed else { return 0 }
        return current.heldByteCount - HTTPBounds.exchangeByteCount + waitingInput.heldByteCount + output.capacity
            + (parserInUse?.heldByteCount ?? 0)
    }

    /// Does nothing: HTTP/1.1 has one stream.
    package func advertiseStreams(_ count: Int) {}

    /// Does nothing: the owner's deadlines suffice for one exchange at a time.
    package func tick() {}

    /// Ends the open exchange because the connection is gone; afterwards the session does nothing.
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

    /// Whether no byte of a next request has been received.
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
