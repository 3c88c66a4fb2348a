// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.
// Sessions are engines over bytes: no sockets, no clock, no TLS. One thread; nothing here is Sendable.

/// Request fields in one buffer, without an allocation per field once the buffer has grown.
package struct FieldTable {
    package struct Field {
        /// Ranges in `bytes`.
        package var name: Range<Int>
        package var value: Range<Int>
    }
    /// Names and values, one after the other; names in lower case.
    package private(set) var bytes: [UInt8] = []
    /// Without pseudo-fields.
    package private(set) var fields: [Field] = []
    package func name(of field: Field, equals name: StaticString) -> Bool { preconditionFailure("unwritten") }
    /// The first field of this name.
    package func value(of name: StaticString) -> Range<Int>? { preconditionFailure("unwritten") }
    package func text(_ range: Range<Int>) -> String { preconditionFailure("unwritten") }
}

/// The method of a request.
package enum Method: Sendable { case get, head, post, put, delete, other }

/// One request and its answer on a session; pooled, so keep no reference after `exchangeEnded`.
package final class HTTPExchange {
    /// HTTP/2 stream id; on HTTP/1.1 a running number.
    package internal(set) var id: Int32 = 0
    package internal(set) var method: Method = .other
    package internal(set) var fields = FieldTable()
    /// `:path` with its query, a range in `fields.bytes`.
    package internal(set) var path: Range<Int> = 0..<0
    /// The whole body once `requestArrived` was called.
    package internal(set) var body: [UInt8] = []
    /// The body was longer than `bodyByteCountMax`; the rest is thrown away.
    package internal(set) var bodyOverflowed = false
    /// Set by the delegate in `headArrived`, bytes.
    package var bodyByteCountMax = 0
    /// What the delegate keeps with the exchange.
    package var context: AnyObject?
    /// The answer has begun.
    package internal(set) var isAnswered = false

    /// Adds a response field, before `respond` or `beginStream`. The name is lower case.
    package func addField(_ name: StaticString, _ value: Span<UInt8>) { preconditionFailure("unwritten") }
    package func addField(_ name: StaticString, _ value: StaticString) { preconditionFailure("unwritten") }
    /// The whole answer; with a body it goes out as exactly one DATA frame that ends the stream, without one
    /// END_STREAM is on HEADERS. If the request's body has not ended, it is told to stop (RST_STREAM NO_ERROR).
    package func respond(status: Int, body: [UInt8] = []) { preconditionFailure("unwritten") }
    /// An answer whose body comes in pieces.
    package func beginStream(status: Int) { preconditionFailure("unwritten") }
    package func send(_ bytes: Span<UInt8>) { preconditionFailure("unwritten") }
    package func endStream() { preconditionFailure("unwritten") }
    /// Bytes given to `send` that the session has not put out yet.
    package var unsentByteCount: Int { preconditionFailure("unwritten") }
}

/// What a session tells its owner; called from inside `receive`, must not call `receive` or end the session.
package protocol HTTPSessionDelegate: AnyObject {
    /// All request fields are there: set `bodyByteCountMax`; may already `respond`.
    func headArrived(_ exchange: HTTPExchange)
    /// The request is complete, or its body overflowed: answer now or later.
    func requestArrived(_ exchange: HTTPExchange)
    /// The exchange is over (answered, reset, or the session died); forget it.
    func exchangeEnded(_ exchange: HTTPExchange)
}

/// One connection's protocol engine.
package protocol HTTPSession: AnyObject {
    /// Takes bytes from the peer. False: put out what is left and close (the reason is in `failure`).
    func receive(_ bytes: Span<UInt8>) -> Bool
    /// Appends output until about `limit` bytes are in the buffer.
    func collectOutput(into output: inout [UInt8], limit: Int)
    /// There is output to collect.
    var hasOutput: Bool { get }
    /// Nothing more will come or go: close the connection once output is flushed.
    var isFinished: Bool { get }
    /// Exchanges that are not over.
    var openExchangeCount: Int { get }
    /// Finds an open exchange for a late answer.
    func exchange(_ id: Int32) -> HTTPExchange?
    /// Tells the peer to open no more streams and why (GOAWAY with debug data; `connection: close`); open ones go on.
    func announceShutdown(debugData: [UInt8])
    /// Second step, after the open ones are answered: the final GOAWAY.
    func finishShutdown(debugData: [UInt8])
    /// Sends a PING (HTTP/2 only).
    func ping()
    /// Pings of ours that were not answered.
    var unansweredPingCount: Int { get }
    /// Why the session must close, for the log.
    var failure: String? { get }
}

/// The bounds of a session.
package struct HTTPSessionLimits: Sendable {
    package var concurrentStreamCountMax: Int
    package var headerListByteCountMax: Int
    package var advertisedHeaderListByteCountMax: UInt32
    package var headerFieldCountMax: Int
    package init(
        concurrentStreamCountMax: Int, headerListByteCountMax: Int, advertisedHeaderListByteCountMax: UInt32,
        headerFieldCountMax: Int
    ) {
        self.concurrentStreamCountMax = concurrentStreamCountMax
        self.headerListByteCountMax = headerListByteCountMax
        self.advertisedHeaderListByteCountMax = advertisedHeaderListByteCountMax
        self.headerFieldCountMax = headerFieldCountMax
    }
}

/// HTTP/2 by nghttp2. Owns one `nghttp2_session`; ends it only outside callbacks (see docs/decisions).
package final class HTTP2Session {
    package init(limits: HTTPSessionLimits, delegate: any HTTPSessionDelegate) { preconditionFailure("unwritten") }
}

/// Strict HTTP/1.1: one exchange at a time, no pipelining beyond the buffer, chunked answers for streams.
package final class HTTP1Session {
    package init(limits: HTTPSessionLimits, delegate: any HTTPSessionDelegate) { preconditionFailure("unwritten") }
}

/// Tells the two apart by the first bytes of a connection without ALPN.
package enum ProtocolDetector {
    package enum Verdict: Sendable { case http2, http1, needsMore }
    package static func look(at bytes: Span<UInt8>) -> Verdict { preconditionFailure("unwritten") }
}

/// The version of nghttp2 found at run time.
package enum NGHTTP2Version {
    package static var text: String { preconditionFailure("unwritten") }
}
