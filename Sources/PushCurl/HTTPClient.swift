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
}
