// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.

/// A request as a client sends it.
package struct HTTPRequest: Sendable {
    package var method: String
    package var url: String
    /// Name and value.
    package var fields: [(String, String)] = []
    package var body: [UInt8] = []
    /// PEM file of authorities to trust instead of the system's.
    package var caFile: String?
    /// Connect through this UNIX socket.
    package var unixSocket: String?
    /// Connect to this `host:port` instead of the URL's.
    package var connectTo: String?
    /// HTTP/2 only (prior knowledge under TLS is not needed; ALPN h2).
    package var requiresHTTP2 = false
    /// For the whole of it; nil for a stream.
    package var timeout: Duration? = .seconds(30)
    /// Do not reuse a connection that may be dead.
    package var needsFreshConnection = false
    package init(method: String, url: String) {
        self.method = method
        self.url = url
    }
}

/// An answer.
package struct HTTPResponse: Sendable {
    package var status: Int
    /// Names in lower case.
    package var fields: [(String, String)]
    package var body: [UInt8]
    package var isHTTP2: Bool
}

/// What libcurl said.
package struct CurlError: Error, Sendable {
    package enum Kind: Sendable { case resolve, connect, tls, timeout, interrupted, other }
    package var kind: Kind
    package var code: Int32
    package var message: String
}

/// One request at a time, blocking: for the command line.
package final class HTTPClient {
    package init() { preconditionFailure("unwritten") }
    package func send(_ request: HTTPRequest) throws(CurlError) -> HTTPResponse { preconditionFailure("unwritten") }
}

/// What a loop does for `MultiClient`: watch a socket, keep one timer. Lets PushCurl know nothing of PushNet.
package protocol SocketWatcher: AnyObject {
    /// Replaces what the socket is watched for; neither means: stop watching.
    func watch(_ socket: Int32, readable: Bool, writable: Bool)
    /// One timer; nil cancels it.
    func setTimer(after delay: Duration?)
}

/// Many requests on shared HTTP/2 connections, driven by the caller's event loop (`curl_multi_socket_action`).
package final class MultiClient {
    package init(watcher: any SocketWatcher) { preconditionFailure("unwritten") }
    /// Ends with exactly one call of `completion`, on the loop, unless cancelled. `onHead` and `onBody` come before
    /// (for a stream: each piece as it arrives; then the response's body is empty).
    @discardableResult
    package func start(
        _ request: HTTPRequest, onHead: ((HTTPResponse) -> Void)? = nil, onBody: ((Span<UInt8>) -> Void)? = nil,
        completion: @escaping (Result<HTTPResponse, CurlError>) -> Void
    ) -> TransferID { preconditionFailure("unwritten") }
    package func cancel(_ transfer: TransferID) { preconditionFailure("unwritten") }
    package func socketReady(_ socket: Int32, readable: Bool, writable: Bool) { preconditionFailure("unwritten") }
    package func timerFired() { preconditionFailure("unwritten") }
}

/// A running request.
package struct TransferID: Hashable, Sendable { let rawValue: UInt64 }
