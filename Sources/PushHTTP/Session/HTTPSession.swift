// SPDX-License-Identifier: Apache-2.0

/// The callbacks of a session to its owner, made from inside `receive`, `collectOutput` and `close`.
///
/// An implementation may answer exchanges, but must not call the session's `receive`, `collectOutput` or `close`.
package protocol HTTPSessionDelegate: AnyObject {
    /// Handles a request with more fields than the limits allow; answer it, since no other callback follows for it.
    func headTooLarge(_ exchange: HTTPExchange)
    /// Handles the complete request fields: sets `bodyByteCountMax`, and may already `respond`.
    func headArrived(_ exchange: HTTPExchange)
    /// Handles a complete request, or one whose body overflowed; answer it now or later.
    ///
    /// The session calls this once, and never for an exchange that was answered in `headArrived`.
    ///
    /// - Parameter exchange: The exchange of the request.
    func requestArrived(_ exchange: HTTPExchange)
    /// Handles the end of an exchange (answered, reset, or the session ended); drop all references to it.
    ///
    /// The session calls this exactly once for each exchange that it passed to `headArrived`.
    ///
    /// - Parameter exchange: The ended exchange.
    func exchangeEnded(_ exchange: HTTPExchange)
}

/// The protocol engine of one connection: works on bytes, without socket, TLS or clock, and on one thread.
///
/// In each turn, the owner sets `nowNanoseconds`, passes the received bytes to `receive`, then calls `collectOutput`
/// and writes the output. When `receive` returns false or `isFinished` is true, the owner writes the remaining output,
/// closes the socket and calls `close`.
package protocol HTTPSession: AnyObject {
    /// The monotonic time, which the owner sets each turn; the rates of cheap frames are measured by it.
    var nowNanoseconds: UInt64 { get set }
    /// Processes bytes from the peer; false means: write the remaining output and close (`failure` has the reason).
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// Appends output until about `limit` bytes are in the buffer.
    ///
    /// Calls the delegate for exchanges that end and, on HTTP/1.1, for a request that waited behind one.
    ///
    /// - Parameters:
    ///   - output: The buffer to append to.
    ///   - limit: The size in bytes at which to stop.
    func collectOutput(into output: inout [UInt8], limit: Int)
    /// The number of complete messages so far: frames on HTTP/2, request heads on HTTP/1.1.
    ///
    /// Deadlines use it: a peer that sends one byte now and then completes no message.
    var completedMessageCount: UInt64 { get }
    /// Whether output is waiting to be collected.
    var hasOutput: Bool { get }
    /// Whether no more input or output will follow: close the connection once the output is flushed.
    var isFinished: Bool { get }
    /// Whether a frame, a header block or a request head has been received only in part.
    ///
    /// A peer that stays in this state for seconds is broken or hostile. The session has no clock, so the owner
    /// enforces the deadline.
    var awaitsRest: Bool { get }
    /// The number of open exchanges.
    var openExchangeCount: Int { get }
    /// A copy of the open exchanges, in no particular order; they may be answered during the iteration.
    var openExchanges: [HTTPExchange] { get }
    /// Whether at least one exchange is open and each is a stream whose data was all sent, so that nothing is pending.
    var isQuiet: Bool { get }
    /// Returns the open exchange with this identifier, for a late answer.
    func exchange(_ id: Int32) -> HTTPExchange?
    /// Tells the peer to open no more streams and why (GOAWAY with debug data; `connection: close`); open exchanges
    /// continue.
    func announceShutdown(debugData: [UInt8])
    /// Sends the final GOAWAY and ends the session gracefully after the open exchanges are answered.
    func finishShutdown(debugData: [UInt8])
    /// The number of bytes that the session holds for the peer beyond an idle session; constant time.
    var retainedByteCount: Int { get }
    /// The number of bytes that the session may hold: beyond it, the session first refuses new streams, then ends.
    var retainedByteCountMax: Int { get set }
    /// Sets the number of allowed streams, and announces it if the peer knows another number (HTTP/2 only).
    ///
    /// Before the first call, at most `HTTPBounds.streamCountBeforeAuthentication` streams are open at the same time.
    ///
    /// - Parameter count: The number of streams that may be open at the same time.
    func advertiseStreams(_ count: Int)
    /// Ends everything that timed out by `nowNanoseconds`; the owner calls it about once a second.
    func tick()
    /// Sends a PING (HTTP/2 only).
    func ping()
    /// The number of our PINGs that the peer has not answered.
    var unansweredPingCount: Int { get }
    /// The reason why the session must close, for the log.
    var failure: String? { get }
    /// Ends every open exchange because the connection is gone; afterwards the session does nothing.
    ///
    /// The owner calls it when the socket is closed. A session that is released without it ends its exchanges without a
    /// callback.
    func close()
}

extension HTTPSession {
    /// Returns the time from a moment of the session's clock until now; zero if the moment is later than now.
    package func age(since moment: UInt64) -> Duration {
        let (nanoseconds, isUnderflow) = nowNanoseconds.subtractingReportingOverflow(moment)
        return .nanoseconds(isUnderflow ? 0 : Int64(clamping: nanoseconds))
    }
}
