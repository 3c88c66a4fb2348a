// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// One request and its answer on a session; pooled, so keep no reference after `exchangeEnded`.
///
/// The delegate reads the request, and answers with either `respond` or `beginStream`, `send` and `endStream`. A peer
/// may end an exchange at any moment, so calls on an ended exchange do nothing.
package final class HTTPExchange {
    /// The identifier on the session: the HTTP/2 stream ID, or a running number on HTTP/1.1.
    package internal(set) var id: Int32 = 0
    /// The request's method.
    package var method: Method { head.method }
    /// The request's fields, without pseudo-fields.
    package var fields: FieldTable { head.fields }
    /// The position of `:path` with its query in `fields.bytes`; empty if the request has no path.
    package var path: Range<Int> { head.path }
    /// The whole body, complete once `requestArrived` was called.
    package var body: [UInt8] { requestBody.bytes }
    /// Whether the body was longer than `bodyByteCountMax`; the rest is discarded.
    package var bodyOverflowed: Bool { requestBody.overflowed }
    /// The largest body to keep, in bytes; the delegate sets it in `headArrived`.
    package var bodyByteCountMax: Int {
        get { requestBody.byteCountMax }
        set { requestBody.byteCountMax = newValue }
    }
    /// An object that the delegate attaches to the exchange; released when the answer begins or the exchange ends.
    ///
    /// A late answer of the store finds no context if another answer was given first.
    package var context: AnyObject?
    /// The session's time when the request's fields were complete.
    package internal(set) var beganAt = MonotonicTime.past
    /// The time when the request was complete, which the delegate sets; `past` before.
    package var arrivedAt = MonotonicTime.past
    /// The session's time when the peer last accepted a part of the answer; `past` if only the socket knows.
    package private(set) var tookAt = MonotonicTime.past
    /// Whether the answer may still grow.
    package var isStreaming: Bool { answer.state == .streaming }
    /// Whether a part of the answer waits for the peer to accept it.
    package var waitsForPeer: Bool { isAnswered && !answer.body.isEmpty && tookAt > .past }
    /// Whether the answer is a stream whose data was all sent so far.
    package var isQuiet: Bool { isStreaming && answer.body.isEmpty }
    /// Whether the request is complete and was passed to `requestArrived`.
    package var isComplete: Bool { requestWasHandedOn }
    /// Two numbers that the delegate attaches to the exchange without an allocation.
    package var keptNumbers: (UInt64, UInt64) = (0, 0)
    /// Whether the answer has begun.
    package var isAnswered: Bool { answer.state != .none }

    /// The session while the exchange is open; counted references of any kind cost three atomic operations for each
    /// request.
    // Safety: sessions detach all of their exchanges before they are deallocated.
    private unowned(unsafe) var owner: (any ExchangeOwner)?
    /// Whether the exchange belongs to a session; the session may be in `deinit`: then this can be read, but not
    /// `owner`.
    private(set) var isOpen = false
    /// The index among the session's open exchanges.
    var openIndex = 0
    /// Whether `headArrived` was called, so that `exchangeEnded` must follow.
    var isAnnounced = false
    /// Whether `requestWasRead` was called.
    private var isRead = false
    /// Whether the peer has sent the end of its request.
    var requestEnded = false
    /// Whether `requestArrived` was called.
    var requestWasHandedOn = false
    /// The method, path and fields, without the copies that `fields` makes.
    package internal(set) var head = RequestHead()
    var requestBody = RequestBody()
    var answer = Answer()
    /// The part of `heldByteCount` that the session has counted.
    var countedByteCount = 0

    init() {}

    /// Adds a response field, before `respond` or `beginStream`.
    ///
    /// - Parameters:
    ///   - name: The name in lower case.
    ///   - value: The value, which is copied; control characters become spaces.
    package func addField(_ name: StaticString, _ value: Span<UInt8>) {
        guard mayBeAnswered("a field was added to an answer that has begun") else { return }
        answer.fields.append(name, value)
    }

    /// Adds a response field with a fixed value, before `respond` or `beginStream`.
    ///
    /// - Parameters:
    ///   - name: The name in lower case.
    ///   - value: The value, which must be a legal field value.
    package func addField(_ name: StaticString, _ value: StaticString) {
        guard mayBeAnswered("a field was added to an answer that has begun") else { return }
        answer.fields.append(name, value)
    }

    /// Adds a response field whose value many answers share, before `respond` or `beginStream`; HTTP/2 sends the value
    /// once.
    ///
    /// - Parameters:
    ///   - name: The name in lower case.
    ///   - value: The value, which is copied; control characters become spaces.
    package func addRepeatedField(_ name: StaticString, _ value: Span<UInt8>) {
        guard mayBeAnswered("a field was added to an answer that has begun") else { return }
        answer.fields.append(name, value, isRepeated: true)
    }

    /// Answers the request with a complete body.
    ///
    /// On HTTP/2, a body is sent as exactly one DATA frame that ends the stream, unless it is larger than a frame or
    /// than the stream's window can be. Without a body, HEADERS carries END_STREAM.
    ///
    /// If the request's body has not ended, some more of it is read and discarded, within `HTTPBounds`, so that the
    /// peer can read the answer. Then the peer is told to stop (RST_STREAM NO_ERROR; on HTTP/1.1 the connection
    /// closes).
    ///
    /// - Parameters:
    ///   - status: The status code, 200 to 599.
    ///   - body: The body, which is kept without a copy until it is sent.
    package func respond(status: Int, body: [UInt8] = []) {
        guard let owner = unsafe owner else { return }
        guard mayBeAnswered("an exchange was answered twice") else { return }
        context = nil
        answer.state = .whole
        answer.body = ByteQueue(body)
        owner.submitAnswer(of: self, status: status)
    }

    /// Begins an answer whose body is sent in pieces.
    ///
    /// - Parameter status: The status code, 200 to 599.
    package func beginStream(status: Int) {
        guard let owner = unsafe owner else { return }
        guard mayBeAnswered("an exchange was answered twice") else { return }
        context = nil
        answer.state = .streaming
        owner.submitAnswer(of: self, status: status)
    }

    /// Returns whether the answer has not begun; stops a debug build if it has.
    ///
    /// A second answer is a bug of ours, but the order of the peer's actions may decide whether it is reached. The
    /// first answer stands and a release build continues: one request must not end the connections of all others.
    ///
    /// - Parameter fault: The message for the debug build.
    /// - Returns: Whether an answer may be given.
    private func mayBeAnswered(_ fault: String) -> Bool {
        if isAnswered { assertionFailure(fault) }
        return !isAnswered
    }

    /// Adds a piece to a streamed answer; the size is not bounded here, so the caller must watch `unsentByteCount`.
    package func send(_ bytes: Span<UInt8>) {
        guard let owner = unsafe owner, answer.state == .streaming, bytes.count > 0 else { return }
        // The time that bytes have waited starts when the queue was empty before.
        if answer.body.isEmpty, owner.now > tookAt { tookAt = owner.now }
        answer.body.append(bytes)
        owner.streamGrew(self)
    }

    /// Ends a streamed answer once all pieces are sent.
    package func endStream() {
        guard let owner = unsafe owner, answer.state == .streaming else { return }
        answer.state = .streamEnded
        owner.streamGrew(self)
    }

    /// Marks the request as read: its memory may be reused, even though the answer is given later.
    package func requestWasRead() { isRead = true }

    /// Releases the request's memory while its answer waits for the peer.
    package func forgetRequest() {
        guard isAnswered else { return }
        requestBody = RequestBody()
        head.fields = FieldTable()
        head.path = 0..<0
        unsafe owner?.recount(self)
    }

    /// Notes that the peer accepted a part of the answer; `past` stays for answers whose progress only the socket knows.
    func took(at now: MonotonicTime) { tookAt = now > .past ? now : MonotonicTime(nanoseconds: 1) }

    /// The number of bytes that the exchange holds, including itself and its share of the stream tables.
    var heldByteCount: Int {
        HTTPBounds.exchangeByteCount + head.fields.heldByteCount + requestBody.heldByteCount
            + answer.fields.heldByteCount + answer.body.heldByteCount
    }

    /// Ends the exchange without the rest of its answer: RST_STREAM CANCEL, or the end of an HTTP/1.1 connection.
    ///
    /// Use it for an answer that the peer does not accept. `exchangeEnded` follows when output is collected.
    package func abandon() {
        unsafe owner?.abandon(self)
    }

    /// The number of bytes given to `send` that the session has not sent yet.
    package var unsentByteCount: Int {
        switch answer.state {
        case .streaming, .streamEnded: answer.body.count
        case .none, .whole: 0
        }
    }

    /// Begins a request on a session, which must call `detach` before it is deallocated.
    func attach(to owner: any ExchangeOwner, id: Int32) {
        self.id = id
        unsafe self.owner = owner
        isOpen = true
    }

    /// Detaches the exchange from its session: from now on its calls do nothing.
    func detach() {
        unsafe owner = nil
        isOpen = false
    }

    /// Adds a piece of the body; returns true if the body has just become too long, so that the request must be handed
    /// on.
    func bodyArrived(_ bytes: Span<UInt8>) -> Bool { !isAnswered && requestBody.append(bytes) }

    /// Passes the request to the delegate once, unless it is already answered.
    func handOn(to delegate: (any HTTPSessionDelegate)?) {
        guard isAnnounced, !requestWasHandedOn, !isAnswered else { return }
        requestWasHandedOn = true
        delegate?.requestArrived(self)
    }

    /// Whether the request will not be read again.
    var needsNoRequest: Bool { requestWasHandedOn && (isAnswered || isRead) }

    /// Resets the exchange for another request and keeps buffers of moderate size.
    func reset() {
        (id, context, keptNumbers) = (0, nil, (0, 0))
        (isAnnounced, requestEnded, requestWasHandedOn, isRead) = (false, false, false, false)
        (beganAt, arrivedAt, tookAt, countedByteCount) = (.past, .past, .past, 0)
        head.removeAll()
        requestBody.removeAll()
        answer.removeAll()
    }
}

/// The calls of an exchange to its session.
protocol ExchangeOwner: AnyObject {
    /// The time, as the session's owner last set it.
    var now: MonotonicTime { get }
    /// Sends the head of an answer that has begun, and the available part of its body.
    func submitAnswer(of exchange: HTTPExchange, status: Int)
    /// Notes that a streamed answer has more bytes or has ended.
    func streamGrew(_ exchange: HTTPExchange)
    /// Updates the number of bytes that the exchange holds.
    func recount(_ exchange: HTTPExchange)
    /// Ends the exchange without the rest of its answer.
    func abandon(_ exchange: HTTPExchange)
}
