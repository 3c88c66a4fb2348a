// SPDX-License-Identifier: Apache-2.0

/// One request and its answer on a session; pooled, so keep no reference after `exchangeEnded`.
///
/// The delegate reads the request, and answers with either `respond` or `beginStream`, `send` and `endStream`. Every
/// call on an exchange that is over does nothing, since a peer may end one at any moment.
package final class HTTPExchange {
    /// How far the answer has come.
    enum AnswerState {
        /// Not begun.
        case none
        /// The whole answer was given.
        case whole
        /// A stream to which more may be added.
        case streaming
        /// A stream of which all was given.
        case streamEnded
    }

    /// The identifier on the session: HTTP/2 stream id; on HTTP/1.1 a running number.
    package internal(set) var id: Int32 = 0
    /// The request's method.
    package internal(set) var method: Method = .other
    /// The request's fields, without pseudo-fields.
    package internal(set) var fields = FieldTable()
    /// `:path` with its query, a range in `fields.bytes`; empty when there is none.
    package internal(set) var path: Range<Int> = 0..<0
    /// The whole body once `requestArrived` was called.
    package internal(set) var body: [UInt8] = []
    /// The body was longer than `bodyByteCountMax`; the rest is thrown away.
    package internal(set) var bodyOverflowed = false
    /// How many bytes of body to keep; set by the delegate in `headArrived`.
    package var bodyByteCountMax = 0
    /// What the delegate keeps with the exchange; released when the exchange is over.
    package var context: AnyObject?
    /// The answer has begun.
    package var isAnswered: Bool { answerState != .none }

    /// The session while the exchange is open; sessions detach their exchanges before they go.
    private unowned var owner: (any ExchangeOwner)?
    /// The exchange belongs to a session, which may be on its way out: then this can be read, but not `owner`.
    private(set) var isOpen = false
    /// Where the exchange stands among the session's open ones.
    var openIndex = 0
    /// `headArrived` was called, so that `exchangeEnded` will be.
    var isAnnounced = false
    /// The peer has sent the end of its request.
    var requestEnded = false
    /// `requestArrived` was called.
    var requestWasHandedOn = false
    /// The request's fields so far, each with 32 bytes of overhead, as SETTINGS_MAX_HEADER_LIST_SIZE counts them.
    var headerListByteCount = 0
    /// The request's fields so far, pseudo-fields included.
    var headerFieldCount = 0
    /// The fields broke a limit, so that none are kept any more.
    var headIsTooLarge = false

    var answerState = AnswerState.none
    var answerFields = AnswerFields()
    /// What of the answer's body has not gone into a frame.
    var answerBody = ByteQueue()
    /// The answer waits until the connection's window takes its body in one frame.
    var waitsForWindow = false

    /// Exchanges give back request buffers above this size when they are over.
    private static let keptBodyCapacityMax = 8192

    init() {}

    /// Adds a response field, before `respond` or `beginStream`.
    ///
    /// - Parameters:
    ///   - name: In lower case.
    ///   - value: Copied; control characters become spaces.
    package func addField(_ name: StaticString, _ value: Span<UInt8>) {
        precondition(!isAnswered, "a field was added to an answer that has begun")
        answerFields.append(name, value)
    }

    /// Adds a response field with a fixed value, before `respond` or `beginStream`.
    ///
    /// - Parameters:
    ///   - name: In lower case.
    ///   - value: Must be a legal field value.
    package func addField(_ name: StaticString, _ value: StaticString) {
        precondition(!isAnswered, "a field was added to an answer that has begun")
        answerFields.append(name, value)
    }

    /// Gives the whole answer.
    ///
    /// On HTTP/2 a body goes out as exactly one DATA frame that ends the stream, unless it is larger than a frame or
    /// than the stream's window can be; without one END_STREAM is on HEADERS. If the request's body has not ended, the
    /// peer is told to stop (RST_STREAM NO_ERROR; on HTTP/1.1 the connection closes).
    ///
    /// - Parameters:
    ///   - status: The status code, 200 to 599.
    ///   - body: Kept without a copy until it is out.
    package func respond(status: Int, body: [UInt8] = []) {
        guard let owner else { return }
        precondition(!isAnswered, "an exchange was answered twice")
        answerState = .whole
        answerBody = ByteQueue(body)
        owner.submitAnswer(of: self, status: status)
    }

    /// Begins an answer whose body comes in pieces.
    ///
    /// - Parameter status: The status code, 200 to 599.
    package func beginStream(status: Int) {
        guard let owner else { return }
        precondition(!isAnswered, "an exchange was answered twice")
        answerState = .streaming
        owner.submitAnswer(of: self, status: status)
    }

    /// Adds a piece to a streamed answer; the caller watches `unsentByteCount`, for nothing here bounds it.
    package func send(_ bytes: Span<UInt8>) {
        guard let owner, answerState == .streaming, bytes.count > 0 else { return }
        answerBody.append(bytes)
        owner.streamGrew(self)
    }

    /// Ends a streamed answer once all pieces are out.
    package func endStream() {
        guard let owner, answerState == .streaming else { return }
        answerState = .streamEnded
        owner.streamGrew(self)
    }

    /// Ends the exchange without the rest of its answer: RST_STREAM CANCEL, or the end of an HTTP/1.1 connection.
    ///
    /// For an answer that the peer does not take. `exchangeEnded` follows when output is collected.
    package func abandon() {
        owner?.abandon(self)
    }

    /// Bytes given to `send` that the session has not put out yet.
    package var unsentByteCount: Int {
        switch answerState {
        case .streaming, .streamEnded: answerBody.count
        case .none, .whole: 0
        }
    }

    /// Begins a request on a session, which must call `detach` before it goes.
    func attach(to owner: any ExchangeOwner, id: Int32) {
        self.id = id
        self.owner = owner
        isOpen = true
    }

    /// Cuts the exchange off from its session: from now on its calls do nothing.
    func detach() {
        owner = nil
        isOpen = false
    }

    /// Makes the exchange ready for another request and keeps the memory worth keeping.
    func reset() {
        (id, method, path, bodyByteCountMax, context) = (0, .other, 0..<0, 0, nil)
        (isAnnounced, requestEnded, requestWasHandedOn, bodyOverflowed) = (false, false, false, false)
        (headerListByteCount, headerFieldCount, headIsTooLarge) = (0, 0, false)
        (answerState, waitsForWindow) = (.none, false)
        fields.removeAll()
        if body.capacity > Self.keptBodyCapacityMax { body = [] } else { body.removeAll(keepingCapacity: true) }
        answerFields.removeAll()
        answerBody = ByteQueue()
    }
}

/// What an exchange asks of its session.
protocol ExchangeOwner: AnyObject {
    /// The answer has begun: put out its head, and its body as far as there is one.
    func submitAnswer(of exchange: HTTPExchange, status: Int)
    /// A streamed answer has more bytes or has ended.
    func streamGrew(_ exchange: HTTPExchange)
    /// Give the exchange up.
    func abandon(_ exchange: HTTPExchange)
}
