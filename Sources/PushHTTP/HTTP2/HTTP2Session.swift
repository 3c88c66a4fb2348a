// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

/// An HTTP/2 session on top of nghttp2; owns one `nghttp2_session`.
///
/// Callbacks never end the session: if a broken frame follows the one that reached a limit, ending the session in a
/// callback would abort the process. Callbacks set `doom` instead. When nghttp2 has returned, the session is terminated
/// (GOAWAY) and receives no further bytes.
@safe
package final class HTTP2Session: HTTPSession {
    /// The reason why the session must end, for the log and for the peer.
    struct Termination {
        /// The reason for the log.
        var reason: String
        /// The error code for GOAWAY.
        var code: nghttp2_error_code
    }

    /// The nghttp2 session; nil while `opening` answers.
    private(set) var engine: OpaquePointer?
    /// The connection's first frames, until nghttp2 takes over.
    var opening: HTTP2Opening?
    private let memory: HTTP2Memory
    let account: HTTP2MemoryAccount
    /// The number of bytes that nghttp2 holds for a session without streams; 0 until it is created.
    package private(set) var libraryByteCount = 0
    /// The number of bytes that the open exchanges hold, as of the last `recount` of each.
    var exchangeByteCount = 0
    /// The number of bytes above which new streams are refused; with twice as many in waiting answers, the session
    /// ends.
    package var retainedByteCountMax = HTTPBounds.retainedByteCountMax {
        didSet { pool.spareByteCountMax = retainedByteCountMax / HTTPBounds.spareShare }
    }
    /// The number of streams that the owner allows; nil until the first call of `advertiseStreams`.
    var allowedStreamCount: Int?
    /// The buffer in which nghttp2 builds frames; its pages are released while nothing is sent.
    private var frameBuffer: UnsafeMutableRawPointer?
    private var hasSentSinceTick = false
    private var frameCountAtTick: UInt64 = 0
    private var holdsFramePages = false
    let limits: HTTPSessionLimits
    /// Not weak: an object with weak references keeps its counters in a side table, which triples the cost of every
    /// reference.
    private(set) unowned var delegate: (any HTTPSessionDelegate)?

    /// The monotonic time, which the owner sets each turn; as long as it does not advance, the buckets are not
    /// refilled.
    package var nowNanoseconds: UInt64 = 0
    /// The reason why the session must close, for the log.
    package internal(set) var failure: String?

    var pool = ExchangePool()
    /// The exchange of the most recently opened stream, while it is open: nearly all fields belong to it.
    // Safety: `end` clears this before the pool releases the exchange.
    private(set) var latest: Unmanaged<HTTPExchange>?
    /// The pending end of the session, set by callbacks and carried out by `carryOutDoom`.
    var pendingTermination: Termination?
    /// Whether `nghttp2_session_terminate_session` or `close` was called.
    var isTerminated = false
    private(set) var isClosed = false

    var meter = FrameMeter()
    var glitches = RateBucket(.glitches)
    var sentResets = RateBucket(.sentResets)
    /// The number of WINDOW_UPDATE frames that the peer may send for DATA that it received.
    var windowUpdateAllowance = 0
    var drained = DrainedStreams()
    var earlyRefusalCount = 0
    var settingsWereAcknowledged = false
    /// The stream limit in the SETTINGS that we send.
    var advertisedStreamCount: Int

    /// Whether SETTINGS, our first frame, was sent.
    var hasSentSettings = false
    /// The first GOAWAY of a shutdown, to be sent between two of nghttp2's frames.
    var notice: [UInt8] = []
    var shutdownStep = ShutdownStep.none
    /// The number of open exchanges that wait for the connection's window.
    var windowWaiterCount = 0
    /// The number in the opaque data of our last PING.
    var sentPingNumber: UInt64 = 0
    /// The number in the last acknowledged PING.
    var answeredPingNumber: UInt64 = 0

    /// The progress of a graceful shutdown.
    enum ShutdownStep {
        /// No shutdown; the peer may open streams.
        case none
        /// The peer was asked to open no more streams.
        case announced
        /// The final GOAWAY is queued or sent.
        case final
    }

    /// Creates a server session, whose SETTINGS wait to be collected.
    ///
    /// - Parameters:
    ///   - limits: The limits on requests and streams.
    ///   - memory: The memory that all sessions of the thread share.
    ///   - delegate: The owner, which is not retained; it must live until `close` was called or the session is
    ///     deallocated.
    package init(
        limits: HTTPSessionLimits, memory: HTTP2Memory = HTTP2Memory(), delegate: any HTTPSessionDelegate
    ) {
        self.limits = limits
        advertisedStreamCount = limits.advertisedStreamCount
        self.delegate = delegate
        self.memory = memory
        account = HTTP2MemoryAccount(of: memory)
        opening = HTTP2Opening(limits)
    }

    deinit {
        delegate = nil
        close()
        // A delegate that closed the session from inside `receive` may have received further exchanges since.
        while let exchange = pool.open.last { end(exchange) }
        if let engine = unsafe engine { unsafe nghttp2_session_del(engine) }
    }

    /// Takes over an nghttp2 session that was just made with `account`.
    func adopt(_ engine: OpaquePointer) {
        unsafe self.engine = engine
        libraryByteCount = account.heldByteCount
        unsafe frameBuffer = memory.takeFrameBuffer()
        unsafe nghttp2_session_set_user_data(engine, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Processes bytes from the peer.
    ///
    /// - Parameter bytes: The input from the preface on, in pieces of any size.
    /// - Returns: False if the session must close; it then accepts no more input.
    package func receive(_ bytes: Span<UInt8>) -> Bool {
        guard failure == nil, !isTerminated else { return false }
        charge(for: bytes)
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
            SettingsFrame.advertise(advertisedStreamCount, in: &output, from: start)
            (hasSentSettings, hasSentSinceTick, holdsFramePages) = (true, true, true)
        }
    }

    /// Releases the memory of frames and all spare memory if nothing was sent or received since the last tick.
    func rest() {
        defer { (hasSentSinceTick, frameCountAtTick) = (false, meter.completedFrameCount) }
        guard !hasSentSinceTick, frameCountAtTick == meter.completedFrameCount, !hasOutput else { return }
        pool.rest()
        guard holdsFramePages, let frameBuffer = unsafe frameBuffer else { return }
        holdsFramePages = false
        unsafe HTTP2Memory.forget(frameBuffer: frameBuffer)
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
    package var awaitsRest: Bool { meter.awaitsRest }

    /// The number of open exchanges; a stream that is only drained has none.
    package var openExchangeCount: Int { pool.open.count }

    /// A copy of the open exchanges, in no particular order; they may be answered during the iteration.
    package var openExchanges: [HTTPExchange] { pool.open }

    /// Whether at least one exchange is open, each is a stream whose data was all sent, and the frame memory was
    /// released.
    package var isQuiet: Bool {
        guard !isClosed, !holdsFramePages, drained.isEmpty, !hasOutput, !pool.open.isEmpty else { return false }
        for index in pool.open.indices where !pool.open[index].isQuiet { return false }
        return true
    }

    /// Returns the open exchange with this identifier, for a late answer; constant time.
    package func exchange(_ id: Int32) -> HTTPExchange? {
        guard !isClosed, opening == nil, let found = unsafe nghttp2_session_get_stream_user_data(handle, id) else {
            return nil
        }
        let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(found).takeUnretainedValue()
        return exchange.isOpen ? exchange : nil
    }

    /// Ends every open exchange because the connection is gone; afterwards the session does nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        isTerminated = true
        while let exchange = pool.open.last { end(exchange) }
        pool.dropSpares()
    }

    /// The number of bytes held beyond an idle session: streams, fields, bodies, answers, waiting frames, spare
    /// buffers.
    package var retainedByteCount: Int {
        max(account.heldByteCount - libraryByteCount, 0) + exchangeByteCount + pool.spareByteCount + notice.count
    }

    /// Releases all spare memory.
    package func dropSpares() { pool.dropSpares() }

    /// Returns whether the session may hold more bytes; frees spare buffers before it returns false.
    func hasRoom(for byteCount: Int) -> Bool {
        guard retainedByteCount > retainedByteCountMax - byteCount else { return true }
        pool.dropSpares()
        return retainedByteCount <= retainedByteCountMax - byteCount
    }

    /// Updates the number of bytes that an exchange holds, after it grew or shrank.
    func recount(_ exchange: HTTPExchange) {
        guard exchange.isOpen else { return }
        let byteCount = exchange.heldByteCount
        exchangeByteCount += byteCount - exchange.countedByteCount
        exchange.countedByteCount = byteCount
    }

    /// Opens an exchange and attaches it to its stream (`nghttp2_session_set_stream_user_data`).
    func begin(_ id: Int32) {
        let acquired = pool.acquire(id: id, owner: self)
        acquired.countedByteCount = HTTPBounds.exchangeByteCount
        exchangeByteCount += HTTPBounds.exchangeByteCount
        // The head may arrive in pieces, so the time starts with its first piece.
        acquired.beganNanoseconds = nowNanoseconds
        let exchange = unsafe Unmanaged.passUnretained(acquired)
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, exchange.toOpaque()))
        unsafe latest = exchange
    }

    /// Ends an exchange, and calls the delegate if the exchange was announced to it.
    func end(_ exchange: HTTPExchange) {
        guard exchange.isOpen else { return }
        unsafe latest = nil
        exchange.detach()
        exchangeByteCount -= exchange.countedByteCount
        pool.remove(exchange)
        if exchange.answer.waitsForWindow { windowWaiterCount -= 1 }
        if exchange.isAnnounced { delegate?.exchangeEnded(exchange) }
        pool.recycle(exchange)
    }

    /// Terminates the session as a callback requested, now that nghttp2 has returned.
    func terminateIfPending() {
        guard let pendingTermination, !isTerminated else { return }
        isTerminated = true
        failure = pendingTermination.reason
        unsafe nghttp2_session_terminate_session(handle, pendingTermination.code.rawValue)
    }
}
