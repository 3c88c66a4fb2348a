// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// One request at a time, blocking: for the command line.
///
/// Connections are kept for the next request. Not Sendable: one thread.
package final class HTTPClient {
    private let handle: EasyHandle

    /// Makes a client without a connection.
    package init() { handle = EasyHandle() }

    /// Sends a request and waits for the whole answer, of whatever status.
    ///
    /// - Parameter request: What to send, and how.
    /// - Returns: The answer with its body.
    /// - Throws: What libcurl said when there was no whole answer; `kind` says what to look at.
    package func send(_ request: HTTPRequest) throws(CurlError) -> HTTPResponse {
        let collector = AnswerCollector(for: request)
        handle.configure(request, sink: collector)
        if let refusal = handle.refusal { throw refusal }
        let code = handle.perform()
        return try collector.finish(handle, code).get()
    }

    /// Connects without verifying the server and returns the certificates that it shows.
    ///
    /// No request is sent. The connection is not used again.
    ///
    /// - Parameter request: The server and how to reach it.
    /// - Returns: The certificates as PEM texts, the server's own first.
    /// - Throws: The error when the TLS handshake fails.
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
