// SPDX-License-Identifier: Apache-2.0

internal import CNghttp2

/// HTTP/2 by nghttp2; owns one `nghttp2_session`.
///
/// Callbacks never end the session: that turns a limit into an abort of the process when a broken frame stands behind
/// the one that tripped it. They set `doom`; when nghttp2 has returned, the session is terminated (GOAWAY) and never
/// given a byte again.
@safe
package final class HTTP2Session: HTTPSession {
    /// Why the session must end, and what the peer is told.
    struct Doom {
        /// For the log.
        var reason: String
        /// For GOAWAY.
        var code: nghttp2_error_code
    }

    let handle: OpaquePointer
    private let memory: HTTP2Memory
    private let account: HTTP2MemoryAccount
    /// Bytes that nghttp2 holds of a session without a stream.
    private let idleByteCount: Int
    /// Bytes that the open exchanges hold, as far as `recount` was called.
    var exchangeByteCount = 0
    /// Bytes above which new streams are refused; with twice as many, in answers that wait, the session ends.
    package var retainedByteCountMax = HTTPBounds.retainedByteCountMax {
        didSet { pool.spareByteCountMax = retainedByteCountMax / HTTPBounds.spareShare }
    }
    /// Streams that the owner allows; nil until the first call of `advertiseStreams`.
    var allowedStreamCount: Int?
    /// Where nghttp2 builds frames; its pages are given back while nothing is sent.
    private let frameBuffer: UnsafeMutableRawPointer?
    private var hasSentSinceTick = false
    private var frameCountAtTick: UInt64 = 0
    private var holdsFramePages = false
    let limits: HTTPSessionLimits
    /// Not weak: an object that has weak references counts all references to it aside, at thrice the price.
    private(set) unowned var delegate: (any HTTPSessionDelegate)?

    /// Monotonic time, which the owner sets each turn; while it stands still, the buckets are not refilled.
    package var nowNanoseconds: UInt64 = 0
    /// Why the session must close, for the log.
    package internal(set) var failure: String?

    var pool = ExchangePool()
    /// The exchange of the stream that was opened last, while it is open: that of nearly all fields.
    // Safety: `end` forgets it before the pool lets go of the exchange.
    private(set) var latest: Unmanaged<HTTPExchange>?
    /// Set by callbacks, acted on by `carryOutDoom`.
    var doom: Doom?
    /// `nghttp2_session_terminate_session` was called, or `close`.
    var isTerminated = false
    private(set) var isClosed = false

    var meter = FrameMeter()
    var glitches = TokenBucket(capacity: HTTPBounds.glitchCountMax, refillPerSecond: HTTPBounds.glitchCountPerSecond)
    var sentResets = TokenBucket(
        capacity: HTTPBounds.sentResetCountMax, refillPerSecond: HTTPBounds.sentResetCountPerSecond)
    /// WINDOW_UPDATE frames that the peer may send for DATA that it got.
    var windowUpdateAllowance = 0
    var drained = DrainedStreams()
    var earlyRefusalCount = 0
    var settingsWereAcknowledged = false
    /// What SETTINGS say about streams.
    var advertisedStreamCount: Int

    /// Our first frame, SETTINGS, is out.
    var hasSentSettings = false
    /// The first GOAWAY of a shutdown, to go out between two of nghttp2's frames.
    var notice: [UInt8] = []
    var shutdownStep = ShutdownStep.none
    /// Open exchanges that wait for the connection's window.
    var windowWaiterCount = 0
    /// The number in the opaque data of our last PING.
    var sentPingNumber: UInt64 = 0
    /// The number in the last answer to one.
    var answeredPingNumber: UInt64 = 0

    /// How far a graceful shutdown has come.
    enum ShutdownStep {
        /// Streams are welcome.
        case none
        /// The peer was asked to open no more.
        case announced
        /// The final GOAWAY is on its way.
        case final
    }

    /// Makes a server's session, whose SETTINGS wait to be collected.
    ///
    /// - Parameters:
    ///   - limits: What the peer may ask for.
    ///   - memory: Of all sessions of the thread.
    ///   - delegate: Not retained; lives until `close` was called or the session is gone.
    package init(
        limits: HTTPSessionLimits, memory: HTTP2Memory = HTTP2Memory(), delegate: any HTTPSessionDelegate
    ) {
        self.limits = limits
        advertisedStreamCount = limits.advertisedStreamCount
        self.delegate = delegate
        self.memory = memory
        account = HTTP2MemoryAccount(of: memory)
        unsafe handle = HTTP2Callbacks.makeSession(account)
        idleByteCount = account.heldByteCount
        unsafe frameBuffer = memory.takeFrameBuffer()
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        submitSettings()
    }

    deinit {
        delegate = nil
        close()
        // A delegate that closed the session from inside `receive` may have been given other exchanges since.
        while let exchange = pool.open.last { end(exchange) }
        unsafe nghttp2_session_del(handle)
    }

    /// Takes bytes from the peer; false when the session must close.
    ///
    /// - Parameter bytes: From the preface on, in pieces of any size.
    /// - Returns: Whether the session goes on; a doomed one takes nothing more.
    package func receive(_ bytes: Span<UInt8>) -> Bool {
        guard failure == nil, !isTerminated else { return false }
        charge(for: bytes)
        if doom == nil {
            let taken = unsafe bytes.withUnsafeBufferPointer {
                unsafe nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count)
            }
            if taken < 0 { endAfterError(Int32(truncatingIfNeeded: taken)) }
            stopOldUploads()
        }
        carryOutDoom()
        return failure == nil
    }

    /// Appends output until about `limit` bytes are in the buffer.
    ///
    /// - Parameters:
    ///   - output: Gets whole frames, so it may exceed the limit by one.
    ///   - limit: Bytes.
    package func collectOutput(into output: inout [UInt8], limit: Int) {
        guard !isClosed else { return }
        while output.count < limit {
            if hasSentSettings, !notice.isEmpty {
                output.append(contentsOf: notice)
                notice = []
            }
            var frame: UnsafePointer<UInt8>?
            let count = unsafe nghttp2_session_mem_send(handle, &frame)
            if count < 0 { endAfterError(Int32(truncatingIfNeeded: count)) }
            let wasTerminated = isTerminated
            carryOutDoom()
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

    /// Gives the memory of frames and of what waits for another request back once nothing came or went for a tick.
    func rest() {
        defer { (hasSentSinceTick, frameCountAtTick) = (false, meter.completedFrameCount) }
        guard !hasSentSinceTick, frameCountAtTick == meter.completedFrameCount, !hasOutput else { return }
        pool.rest()
        guard holdsFramePages, let frameBuffer = unsafe frameBuffer else { return }
        holdsFramePages = false
        unsafe HTTP2Memory.forget(frameBuffer: frameBuffer)
    }

    /// There is output to collect.
    package var hasOutput: Bool {
        guard !isClosed else { return false }
        return unsafe nghttp2_session_want_write(handle) != 0 || (hasSentSettings && !notice.isEmpty)
    }

    /// Nothing more will come or go: close the connection once output is flushed.
    package var isFinished: Bool {
        if isClosed { return true }
        guard !hasOutput else { return false }
        return unsafe isTerminated || nghttp2_session_want_read(handle) == 0
    }

    /// A part of a frame or of a header block has come, but not its rest.
    package var awaitsRest: Bool { meter.awaitsRest }

    /// Exchanges that are not over; a stream that is only drained has none.
    package var openExchangeCount: Int { pool.open.count }

    /// Exchanges that are not over, in no order; a copy, so that they may be answered meanwhile.
    package var openExchanges: [HTTPExchange] { pool.open }

    /// At least one exchange is open, each is a stream of which all was sent, and the memory of frames was given back.
    package var isQuiet: Bool {
        guard !isClosed, !holdsFramePages, drained.isEmpty, !hasOutput, !pool.open.isEmpty else { return false }
        for index in pool.open.indices where !pool.open[index].isQuiet { return false }
        return true
    }

    /// Finds an open exchange for a late answer, in constant time.
    package func exchange(_ id: Int32) -> HTTPExchange? {
        guard !isClosed, let found = unsafe nghttp2_session_get_stream_user_data(handle, id) else { return nil }
        let exchange = unsafe Unmanaged<HTTPExchange>.fromOpaque(found).takeUnretainedValue()
        return exchange.isOpen ? exchange : nil
    }

    /// Ends every open exchange, because the connection is gone; afterwards the session does nothing.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        isTerminated = true
        while let exchange = pool.open.last { end(exchange) }
        pool.dropSpares()
    }

    /// Bytes that the session holds beyond an idle one: streams, fields, bodies, answers, frames that wait, spare buffers.
    package var retainedByteCount: Int {
        max(account.heldByteCount - idleByteCount, 0) + exchangeByteCount + pool.spareByteCount + notice.count
    }

    /// Returns whether the session may hold more bytes; frees spare buffers before it returns false.
    func hasRoom(for byteCount: Int) -> Bool {
        guard retainedByteCount > retainedByteCountMax - byteCount else { return true }
        pool.dropSpares()
        return retainedByteCount <= retainedByteCountMax - byteCount
    }

    /// Counts what an exchange holds now; called where it grew or shrank.
    func recount(_ exchange: HTTPExchange) {
        guard exchange.isOpen else { return }
        let byteCount = exchange.heldByteCount
        exchangeByteCount += byteCount - exchange.countedByteCount
        exchange.countedByteCount = byteCount
    }

    /// Opens an exchange and ties it to its stream (`nghttp2_session_set_stream_user_data`).
    func begin(_ id: Int32) {
        let acquired = pool.acquire(id: id, owner: self)
        acquired.countedByteCount = HTTPBounds.exchangeByteCount
        exchangeByteCount += HTTPBounds.exchangeByteCount
        // Its head may come in pieces, and it is not older for that.
        acquired.beganNanoseconds = nowNanoseconds
        let exchange = unsafe Unmanaged.passUnretained(acquired)
        check(unsafe nghttp2_session_set_stream_user_data(handle, id, exchange.toOpaque()))
        unsafe latest = exchange
    }

    /// Closes the books on an exchange and tells the delegate if it knows of it.
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

    /// Terminates the session as a callback asked, now that nghttp2 has returned.
    func carryOutDoom() {
        guard let doom, !isTerminated else { return }
        isTerminated = true
        failure = doom.reason
        unsafe nghttp2_session_terminate_session(handle, doom.code.rawValue)
    }
}
