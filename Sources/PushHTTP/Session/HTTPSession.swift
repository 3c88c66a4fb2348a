// SPDX-License-Identifier: Apache-2.0

/// What a session tells its owner; called from inside `receive`, `collectOutput` and `close`.
///
/// An implementation may answer exchanges, but must not call the session's `receive`, `collectOutput` or `close`.
package protocol HTTPSessionDelegate: AnyObject {
    /// A request has more fields than are kept: answer it; nothing else is heard of it.
    func headTooLarge(_ exchange: HTTPExchange)
    /// All request fields are there: set `bodyByteCountMax`; may already `respond`.
    func headArrived(_ exchange: HTTPExchange)
    /// The request is complete, or its body overflowed: answer now or later.
    ///
    /// Called once, and never for an exchange that was answered in `headArrived`.
    func requestArrived(_ exchange: HTTPExchange)
    /// The exchange is over (answered, reset, or the session died); forget it.
    ///
    /// Called exactly once for each exchange of which `headArrived` was called.
    func exchangeEnded(_ exchange: HTTPExchange)
}

/// One connection's protocol engine over bytes: no socket, no TLS, no clock; for one thread.
///
/// The owner's turn: set `nowNanoseconds`, give what was read to `receive`, then call `collectOutput` and write; when
/// `receive` said no or `isFinished`, write what is left, close the socket and call `close`.
package protocol HTTPSession: AnyObject {
    /// Monotonic time, which the owner sets each turn; rates of cheap frames are counted by it.
    var nowNanoseconds: UInt64 { get set }
    /// Takes bytes from the peer. False: put out what is left and close (the reason is in `failure`).
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// Appends output until about `limit` bytes are in the buffer.
    ///
    /// Calls the delegate: for exchanges that end, and on HTTP/1.1 for a request that waited behind one.
    func collectOutput(into output: inout [UInt8], limit: Int)
    /// Grows with each message that came whole: a frame on HTTP/2, the head of a request on HTTP/1.1.
    ///
    /// For deadlines: a peer that sends one byte now and then completes nothing.
    var completedMessageCount: UInt64 { get }
    /// There is output to collect.
    var hasOutput: Bool { get }
    /// Nothing more will come or go: close the connection once output is flushed.
    var isFinished: Bool { get }
    /// A part of a frame, of a header block or of a request's head has come, but not its rest.
    ///
    /// A peer that leaves it so for seconds is broken or hostile; the owner has the clock.
    var awaitsRest: Bool { get }
    /// Exchanges that are not over.
    var openExchangeCount: Int { get }
    /// Exchanges that are not over, in no order; a copy, so that they may be answered meanwhile.
    var openExchanges: [HTTPExchange] { get }
    /// At least one exchange is open, and each is a stream of which all was sent: nothing is waited for.
    var isQuiet: Bool { get }
    /// Finds an open exchange for a late answer.
    func exchange(_ id: Int32) -> HTTPExchange?
    /// Tells the peer to open no more streams and why (GOAWAY with debug data; `connection: close`); open ones go on.
    func announceShutdown(debugData: [UInt8])
    /// Ends the session gracefully after the open exchanges are answered: the final GOAWAY.
    func finishShutdown(debugData: [UInt8])
    /// Bytes that the session holds for the peer beyond an idle one; constant time.
    var retainedByteCount: Int { get }
    /// The bytes that the session may hold: it first refuses new streams, then ends.
    var retainedByteCountMax: Int { get set }
    /// Sets the number of allowed streams, and tells the peer if it knows another number (HTTP/2 only).
    ///
    /// Before the first call at most `HTTPBounds.streamCountBeforeAuthentication` streams are open at once.
    func advertiseStreams(_ count: Int)
    /// Ends what took too long by `nowNanoseconds`; the owner calls it each second or so.
    func tick()
    /// Sends a PING (HTTP/2 only).
    func ping()
    /// Pings of ours that were not answered.
    var unansweredPingCount: Int { get }
    /// Why the session must close, for the log.
    var failure: String? { get }
    /// Ends every open exchange, because the connection is gone; afterwards the session does nothing.
    ///
    /// The owner calls it when the socket is closed; a session that is released without it ends them untold.
    func close()
}

extension HTTPSession {
    /// Returns the time from a moment of the session's clock until now; zero for a later one.
    package func age(since moment: UInt64) -> Duration {
        let (nanoseconds, isUnderflow) = nowNanoseconds.subtractingReportingOverflow(moment)
        return .nanoseconds(isUnderflow ? 0 : Int64(clamping: nanoseconds))
    }
}
