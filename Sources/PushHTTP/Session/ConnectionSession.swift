// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// The protocol engine of one connection: works on bytes, without socket, TLS or clock, and on one thread.
///
/// In each turn, the owner sets `now`, passes the received bytes to `receive`, then calls `collectOutput`
/// and writes the output. When `receive` returns false or `isFinished` is true, the owner writes the remaining output,
/// closes the socket and calls `close`.
package protocol ConnectionSession: AnyObject {
    /// The time, which the owner sets each turn; the rates of cheap frames are measured by it.
    var now: MonotonicTime { get set }
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
    /// Whether the session accepts more input; if not, the owner stops reading until it has called `collectOutput`.
    var acceptsInput: Bool { get }
    /// The number of complete messages so far: frames on HTTP/2 and WebSocket, request heads on HTTP/1.1.
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
    /// The number of open exchanges; a device's stream counts as one.
    var openExchangeCount: Int { get }
    /// Whether at least one exchange is open and each is a stream whose data was all sent, so that nothing is pending.
    var isQuiet: Bool { get }
    /// Says goodbye and ends the session after the open exchanges are answered: the final GOAWAY on HTTP/2.
    func finishShutdown(debugData: [UInt8])
    /// The number of bytes that the session holds for the peer beyond an idle session; constant time.
    var retainedByteCount: Int { get }
    /// The number of bytes that the protocol library holds for an idle session; 0 until the library is needed.
    var libraryByteCount: Int { get }
    /// Releases the memory that the session keeps for later requests.
    func dropSpares()
    /// The number of bytes that the session may hold: beyond it, the session first refuses new streams, then ends.
    var retainedByteCountMax: Int { get set }
    /// The reason why the session must close, for the log.
    var failure: String? { get }
    /// Ends every open exchange because the connection is gone; afterwards the session does nothing.
    ///
    /// The owner calls it when the socket is closed. A session that is released without it ends its exchanges without a
    /// callback.
    func close()
}

extension ConnectionSession {
    /// Zero; only an HTTP/2 session counts this memory.
    package var libraryByteCount: Int { 0 }
    /// True, because most sessions process all input immediately.
    package var acceptsInput: Bool { true }
    /// Does nothing, because most sessions keep nothing for later.
    package func dropSpares() {}

    /// Returns the time from a moment of the session's clock until now; zero if the moment is later than now.
    package func age(since moment: MonotonicTime) -> Duration { max(.zero, now.duration(since: moment)) }
}
