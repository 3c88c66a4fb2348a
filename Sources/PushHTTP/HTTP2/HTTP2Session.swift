// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2
package import PushNet

/// An HTTP/2 session on top of nghttp2; owns one `nghttp2_session`.
///
/// Callbacks never end the session: if a broken frame follows the one that reached a limit, ending the session in a
/// callback would abort the process. Callbacks set `pendingTermination` instead. When nghttp2 has returned, the session
/// is terminated (GOAWAY) and receives no further bytes.
@safe
package final class HTTP2Session: HTTPSession {
    /// The nghttp2 session; nil while `opening` answers.
    private(set) var engine: OpaquePointer?
    /// The connection's first frames, until nghttp2 takes over.
    var opening: HTTP2Opening?
    private let memory: HTTP2Memory
    let account: HTTP2MemoryAccount
    /// The number of bytes that nghttp2 holds for a session without streams; 0 until it is created.
    package private(set) var libraryByteCount = 0
    /// The number of bytes above which new streams are refused; with twice as many in waiting answers, the session
    /// ends.
    package var retainedByteCountMax = HTTPBounds.retainedByteCountMax {
        didSet { exchanges.pool.spareByteCountMax = retainedByteCountMax / HTTPBounds.spareShare }
    }
    var framePages = HTTP2FramePages()
    let limits: HTTPSessionLimits
    /// Not weak: an object with weak references keeps its counters in a side table, which triples the cost of every
    /// reference.
    private(set) unowned var delegate: (any HTTPSessionDelegate)?

    /// The time, which the owner sets each turn; as long as it does not advance, the buckets are not refilled.
    package var now = MonotonicTime.past
    /// The reason why the session must close, for the log.
    package internal(set) var failure: String?

    var exchanges = HTTP2Exchanges()
    /// The pending end of the session, set by callbacks and carried out by `terminateIfPending`.
    var pendingTermination: HTTP2Termination?
    /// Whether `nghttp2_session_terminate_session` or `close` was called.
    var isTerminated = false
    private(set) var isClosed = false

    var peerLimits: HTTP2PeerLimits
    var drained = DrainedStreams()
    var streams: StreamAllowance
    /// Whether SETTINGS, our first frame, was sent.
    var hasSentSettings = false
    /// The first GOAWAY of a shutdown, to be sent between two of nghttp2's frames.
    var notice: [UInt8] = []
    var shutdownStep = ShutdownStep.none
    var pings = PingNumbers()

    /// Creates a server session, whose SETTINGS wait to be collected.
    ///
    /// - Parameters:
    ///   - limits: The limits on requests and streams.
    ///   - memory: The memory that all sessions of the thread share.
    ///   - metrics: The counts of all sessions of the thread.
    ///   - delegate: The owner, which is not retained; it must live until `close` was called or the session is
    ///     deallocated.
    package init(
        limits: HTTPSessionLimits, memory: HTTP2Memory = HTTP2Memory(), metrics: HTTP2Metrics = HTTP2Metrics(),
        delegate: any HTTPSessionDelegate
    ) {
        self.limits = limits
        peerLimits = HTTP2PeerLimits(metrics)
        streams = StreamAllowance(advertisedCount: limits.advertisedStreamCount)
        self.delegate = delegate
        self.memory = memory
        account = HTTP2MemoryAccount(of: memory)
        opening = HTTP2Opening(limits)
    }

    deinit {
        delegate = nil
        close()
        // A delegate that closed the session from inside `receive` may have received further exchanges since.
        while let exchange = exchanges.pool.open.last { end(exchange) }
        if let engine = unsafe engine { unsafe nghttp2_session_del(engine) }
    }

    /// Takes over an nghttp2 session that was just made with `account`.
    func adopt(_ engine: OpaquePointer) {
        unsafe self.engine = engine
        libraryByteCount = account.heldByteCount
        unsafe framePages.adopt(memory.takeFrameBuffer())
        unsafe nghttp2_session_set_user_data(engine, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Processes bytes from the peer.
    ///
    /// - Parameter bytes: The input from the preface on, in pieces of any size.
    /// - Returns: False if the session must close; it then accepts no more input.
    package func receive(_ bytes: Span<UInt8>) -> Bool {
        guard failure == nil, !isTerminated else { return false }
        end(because: peerLimits.charge(for: bytes, now: now))
        if pendingTermination == nil {
            if opening == nil { feed(bytes) } else { takeOpening(bytes) }
            stopOldUploads()
        }
        terminateIfPending()
        return failure == nil
    }

    /// Appends output until about `limit` bytes are in the buffer.
    ///
    /// - Parameters:
    ///   - output: The buffer, which receives whole frames and so may exceed the limit by one frame.
    ///   - limit: The size in bytes at which to stop.
    package func collectOutput(into output: inout [UInt8], limit: Int) {
        guard !isClosed else { return }
        guard opening == nil else { return collectOpening(into: &output) }
        while output.count < limit {
            if hasSentSettings, !notice.isEmpty {
                output.append(contentsOf: notice)
                notice = []
            }
            var frame: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(handle, &frame)
            if count < 0 { endAfterError(Int32(truncatingIfNeeded: count)) }
            let wasTerminated = isTerminated
            terminateIfPending()
            guard count > 0, let frame = unsafe frame else {
                if isTerminated, !wasTerminated, count == 0 { continue }
                break
            }
            let start = output.count
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: frame, count: count))
            SettingsFrame.advertise(streams.advertisedCount, in: &output, from: start)
            hasSentSettings = true
            framePages.noteSent()
        }
    }

    /// Whether output is waiting to be collected.
    package var hasOutput: Bool {
        guard !isClosed else { return false }
        if let opening { return !opening.output.isEmpty || !notice.isEmpty }
        return unsafe nghttp2_session_want_write(handle) != 0 || (hasSentSettings && !notice.isEmpty)
    }

    /// Whether no more input or output will follow: close the connection once the output is flushed.
    package var isFinished: Bool {
        if isClosed { return true }
        guard !hasOutput, opening == nil else { return false }
        return unsafe isTerminated || nghttp2_session_want_read(handle) == 0
    }

    /// Whether a frame or a header block has been received only in part.
    package var awaitsRest: Bool { peerLimits.meter.awaitsRest }

    /// The number of open exchanges; a stream that is only drained has none.
    package var openExchangeCount: Int { exchanges.pool.open.count }

    /// A copy of the open exchanges, in no particular order; they may be answered during the iteration.
    package var openExchanges: [HTTPExchange] { exchanges.pool.open }

    /// Whether an exchange is open, each is a stream whose data was all sent, and the frame memory was released.
    package var isQuiet: Bool {
        guard !isClosed, !framePages.areHeld, drained.isEmpty, !hasOutput, !exchanges.pool.open.isEmpty else {
            return false
        }
        for index in exchanges.pool.open.indices where !exchanges.pool.open[index].isQuiet { return false }
        return true
    }

    /// Returns the open exchange with this identifier, for a late answer; constant time.
    package func exchange(_ id: Int32) -> HTTPExchange? {
        guard !isClosed, opening == nil else { return nil }
        if let latest = exchanges.latest(id) { return latest }
        guard let found = unsafe nghttp2_session_get_stream_user_data(handle, id) else { return nil }
        let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(found).takeUnretainedValue()
        return exchange.isOpen ? exchange : nil
    }

    /// Ends every open exchange because the connection is gone; afterwards the session does nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        isTerminated = true
        while let exchange = exchanges.pool.open.last { end(exchange) }
        exchanges.pool.dropSpares()
    }

    /// The bytes held beyond an idle session: streams, fields, bodies, answers, waiting frames, spare buffers.
    package var retainedByteCount: Int {
        max(account.heldByteCount - libraryByteCount, 0) + exchanges.heldByteCount + exchanges.pool.spareByteCount
            + notice.count
    }

    /// Releases all spare memory.
    package func dropSpares() { exchanges.pool.dropSpares() }

    /// Returns whether the session may hold more bytes; frees spare buffers before it returns false.
    func hasRoom(for byteCount: Int) -> Bool {
        guard retainedByteCount > retainedByteCountMax - byteCount else { return true }
        exchanges.pool.dropSpares()
        return retainedByteCount <= retainedByteCountMax - byteCount
    }

    /// Updates the number of bytes that an exchange holds, after it grew or shrank.
    func recount(_ exchange: HTTPExchange) { exchanges.recount(exchange) }

    /// Opens an exchange and attaches it to its stream (`nghttp2_session_set_stream_user_data`).
    func begin(_ id: Int32) {
        let exchange = unsafe exchanges.begin(id, owner: self, now: now)
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, exchange.toOpaque()))
    }

    /// Ends an exchange, and calls the delegate if the exchange was announced to it.
    func end(_ exchange: HTTPExchange) {
        guard exchange.isOpen else { return }
        exchanges.end(exchange)
        if exchange.isAnnounced { delegate?.exchangeEnded(exchange) }
        exchanges.pool.recycle(exchange)
    }

    /// Terminates the session as a callback requested, now that nghttp2 has returned.
    func terminateIfPending() {
        guard let pendingTermination, !isTerminated else { return }
        isTerminated = true
        failure = pendingTermination.reason
        unsafe nghttp2_session_terminate_session(handle, pendingTermination.code.rawValue)
    }
}
