// SPDX-License-Identifier: Apache-2.0

/// One request and its answer on a session; pooled, so keep no reference after `exchangeEnded`.
///
/// The delegate reads the request, and answers with either `respond` or `beginStream`, `send` and `endStream`. Every
/// call on an exchange that is over does nothing, since a peer may end one at any moment.
package final class HTTPExchange {
    /// The identifier on the session: HTTP/2 stream id; on HTTP/1.1 a running number.
    package internal(set) var id: Int32 = 0
    /// The request's method.
    package var method: Method { head.method }
    /// The request's fields, without pseudo-fields.
    package var fields: FieldTable { head.fields }
    /// `:path` with its query, a range in `fields.bytes`; empty when there is none.
    package var path: Range<Int> { head.path }
    /// The whole body once `requestArrived` was called.
    package var body: [UInt8] { requestBody.bytes }
    /// The body was longer than `bodyByteCountMax`; the rest is thrown away.
    package var bodyOverflowed: Bool { requestBody.overflowed }
    /// How many bytes of body to keep; set by the delegate in `headArrived`.
    package var bodyByteCountMax: Int {
        get { requestBody.byteCountMax }
        set { requestBody.byteCountMax = newValue }
    }
    /// An object that the delegate keeps with the exchange; released when the answer begins or the exchange is over.
    ///
    /// A late answer of the store finds no context when another answer was given first.
    package var context: AnyObject?
    /// When the request's fields were there, in the session's monotonic time.
    package internal(set) var beganNanoseconds: UInt64 = 0
    /// When the peer last took a part of the answer, in the session's monotonic time; 0 where only the socket knows.
    package internal(set) var tookNanoseconds: UInt64 = 0
    /// The answer may still grow.
    package var isStreaming: Bool { answer.state == .streaming }
    /// A part of the answer waits for the peer to take it.
    package var waitsForPeer: Bool { isAnswered && !answer.body.isEmpty && tookNanoseconds > 0 }
    /// A stream of which all was sent so far.
    package var isQuiet: Bool { isStreaming && answer.body.isEmpty }
    /// The request is complete: `requestArrived` was called.
    package var isComplete: Bool { requestWasHandedOn }
    /// Two numbers that the delegate keeps with the exchange, which costs no allocation.
    package var keptNumbers: (UInt64, UInt64) = (0, 0)
    /// The answer has begun.
    package var isAnswered: Bool { answer.state != .none }

    /// The session while the exchange is open; counted references of any kind cost three atomic steps for each request.
    // Safety: sessions detach all of their exchanges before they go.
    private unowned(unsafe) var owner: (any ExchangeOwner)?
    /// The exchange belongs to a session, which may be on its way out: then this can be read, but not `owner`.
    private(set) var isOpen = false
    /// Where the exchange stands among the session's open ones.
    var openIndex = 0
    /// `headArrived` was called, so that `exchangeEnded` will be.
    var isAnnounced = false
    /// `requestWasRead` was called.
    private var isRead = false
    /// The peer has sent the end of its request.
    var requestEnded = false
    /// `requestArrived` was called.
    var requestWasHandedOn = false
    /// Method, path and fields, without the copies that `fields` makes.
    package internal(set) var head = RequestHead()
    var requestBody = RequestBody()
    var answer = Answer()
    /// The part of `heldByteCount` that the session has counted.
    var countedByteCount = 0

    init() {}

    /// Adds a response field, before `respond` or `beginStream`.
    ///
    /// - Parameters:
    ///   - name: In lower case.
    ///   - value: Copied; control characters become spaces.
    package func addField(_ name: StaticString, _ value: Span<UInt8>) {
        guard mayBeAnswered("a field was added to an answer that has begun") else { return }
        answer.fields.append(name, value)
    }

    /// Adds a response field with a fixed value, before `respond` or `beginStream`.
    ///
    /// - Parameters:
    ///   - name: In lower case.
    ///   - value: Must be a legal field value.
    package func addField(_ name: StaticString, _ value: StaticString) {
        guard mayBeAnswered("a field was added to an answer that has begun") else { return }
        answer.fields.append(name, value)
    }

    /// Adds a response field whose value other answers have, too, before `respond` or `beginStream`: HTTP/2 sends it once.
    ///
    /// - Parameters:
    ///   - name: In lower case.
    ///   - value: Copied; control characters become spaces.
    package func addRepeatedField(_ name: StaticString, _ value: Span<UInt8>) {
        guard mayBeAnswered("a field was added to an answer that has begun") else { return }
        answer.fields.append(name, value, isRepeated: true)
    }

    /// Gives the whole answer.
    ///
    /// On HTTP/2 a body goes out as exactly one DATA frame that ends the stream, unless it is larger than a frame or
    /// than the stream's window can be; without one END_STREAM is on HEADERS. If the request's body has not ended, some
    /// more of it is read and dropped, within `HTTPBounds`, so that the peer gets to read the answer; then it is told to
    /// stop (RST_STREAM NO_ERROR; on HTTP/1.1 the connection closes).
    ///
    /// - Parameters:
    ///   - status: The status code, 200 to 599.
    ///   - body: Kept without a copy until it is out.
    package func respond(status: Int, body: [UInt8] = []) {
        guard let owner = unsafe owner else { return }
        guard mayBeAnswered("an exchange was answered twice") else { return }
        context = nil
        answer.state = .whole
        answer.body = ByteQueue(body)
        owner.submitAnswer(of: self, status: status)
    }

    /// Begins an answer whose body comes in pieces.
    ///
    /// - Parameter status: The status code, 200 to 599.
    package func beginStream(status: Int) {
        guard let owner = unsafe owner else { return }
        guard mayBeAnswered("an exchange was answered twice") else { return }
        context = nil
        answer.state = .streaming
        owner.submitAnswer(of: self, status: status)
    }

    /// Returns whether the answer has not begun; stops a debug build when it has.
    ///
    /// A second answer is a fault of ours, but whether it is reached may depend on the order in which a peer does things.
    /// The first answer stands and a release build continues: one request must not end the connections of all others.
    private func mayBeAnswered(_ fault: String) -> Bool {
        if isAnswered { assertionFailure(fault) }
        return !isAnswered
    }

    /// Adds a piece to a streamed answer; the caller watches `unsentByteCount`, for nothing here bounds it.
    package func send(_ bytes: Span<UInt8>) {
        guard let owner = unsafe owner, answer.state == .streaming, bytes.count > 0 else { return }
        // What waits from now on has not waited before.
        if answer.body.isEmpty { tookNanoseconds = max(tookNanoseconds, owner.nowNanoseconds) }
        answer.body.append(bytes)
        owner.streamGrew(self)
    }

    /// Ends a streamed answer once all pieces are out.
    package func endStream() {
        guard let owner = unsafe owner, answer.state == .streaming else { return }
        answer.state = .streamEnded
        owner.streamGrew(self)
    }

    /// The request was read: its memory may serve another one, though the answer comes later.
    package func requestWasRead() { isRead = true }

    /// Gives the request's memory back while its answer waits for the peer.
    package func forgetRequest() {
        guard isAnswered else { return }
        requestBody = RequestBody()
        head.fields = FieldTable()
        head.path = 0..<0
        unsafe owner?.recount(self)
    }

    /// Bytes that the exchange holds, with itself and its stream's part of tables.
    var heldByteCount: Int {
        HTTPBounds.exchangeByteCount + head.fields.heldByteCount + requestBody.heldByteCount
            + answer.fields.heldByteCount + answer.body.heldByteCount
    }

    /// Ends the exchange without the rest of its answer: RST_STREAM CANCEL, or the end of an HTTP/1.1 connection.
    ///
    /// For an answer that the peer does not take. `exchangeEnded` follows when output is collected.
    package func abandon() {
        unsafe owner?.abandon(self)
    }

    /// Bytes given to `send` that the session has not put out yet.
    package var unsentByteCount: Int {
        switch answer.state {
        case .streaming, .streamEnded: answer.body.count
        case .none, .whole: 0
        }
    }

    /// Begins a request on a session, which must call `detach` before it goes.
    func attach(to owner: any ExchangeOwner, id: Int32) {
        self.id = id
        unsafe self.owner = owner
        isOpen = true
    }

    /// Cuts the exchange off from its session: from now on its calls do nothing.
    func detach() {
        unsafe owner = nil
        isOpen = false
    }

    /// A piece of the body arrived; true when the body has just become too long, so that the request is to be handed on.
    func bodyArrived(_ bytes: Span<UInt8>) -> Bool { !isAnswered && requestBody.append(bytes) }

    /// Hands the request to the delegate, once, unless it is answered already.
    func handOn(to delegate: (any HTTPSessionDelegate)?) {
        guard isAnnounced, !requestWasHandedOn, !isAnswered else { return }
        requestWasHandedOn = true
        delegate?.requestArrived(self)
    }

    /// Nobody looks at the request any more.
    var needsNoRequest: Bool { requestWasHandedOn && (isAnswered || isRead) }

    /// Makes the exchange ready for another request and keeps the memory worth keeping.
    func reset() {
        (id, context, keptNumbers) = (0, nil, (0, 0))
        (isAnnounced, requestEnded, requestWasHandedOn, isRead) = (false, false, false, false)
        (beganNanoseconds, tookNanoseconds, countedByteCount) = (0, 0, 0)
        head.removeAll()
        requestBody.removeAll()
        answer.removeAll()
    }
}

/// What an exchange asks of its session.
protocol ExchangeOwner: AnyObject {
    /// Monotonic time, as the session's owner set it last.
    var nowNanoseconds: UInt64 { get }
    /// The answer has begun: put out its head, and its body as far as there is one.
    func submitAnswer(of exchange: HTTPExchange, status: Int)
    /// A streamed answer has more bytes or has ended.
    func streamGrew(_ exchange: HTTPExchange)
    /// The exchange holds another number of bytes.
    func recount(_ exchange: HTTPExchange)
    /// Give the exchange up.
    func abandon(_ exchange: HTTPExchange)
}
