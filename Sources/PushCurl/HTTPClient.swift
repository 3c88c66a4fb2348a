// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// A blocking client for one request at a time, for the command line.
///
/// It keeps connections for the next request. It is not Sendable: use it on one thread.
package final class HTTPClient {
    private let handle: EasyHandle

    /// Creates a client without a connection.
    package init() { handle = EasyHandle() }

    /// Sends a request and blocks until the response is complete, whatever its status is.
    ///
    /// - Parameter request: The request and its transport options.
    /// - Returns: The response with its body.
    /// - Throws: libcurl's error if the response is incomplete; see `kind` for its cause.
    package func send(_ request: HTTPRequest) throws(CurlError) -> HTTPResponse {
        let collector = AnswerCollector(for: request)
        handle.configure(request, sink: collector)
        if let refusal = handle.refusal { throw refusal }
        let code = handle.perform()
        return try collector.finish(handle, code).get()
    }

    /// Connects without verifying the server, and returns the certificates that the server presents.
    ///
    /// No request is sent, and the connection is not reused.
    ///
    /// - Parameter request: The URL and the transport options.
    /// - Returns: The certificates as PEM, the server's own first.
    /// - Throws: libcurl's error if the TLS handshake fails.
    package func certificates(for request: HTTPRequest) throws(CurlError) -> [[UInt8]] {
        var request = request
        request.connectsOnly = true
        request.looksAtCertificates = true
        let collector = AnswerCollector(for: request)
        handle.configure(request, sink: collector)
        let code = handle.perform()
        if let error = handle.error(for: code) { throw error }
        return handle.certificates
    }
}
