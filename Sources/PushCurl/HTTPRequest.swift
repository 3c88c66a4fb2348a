// SPDX-License-Identifier: Apache-2.0

/// A request with its transport options.
package struct HTTPRequest: Sendable {
    /// The method, for example `GET`; capital letters only.
    package var method: String
    /// The URL, `https://…` or `http://…`; other schemes are rejected.
    package var url: String
    /// The fields in order, as name and value; a control character in either makes the request fail.
    package var fields: [(String, String)] = []
    /// The body; not sent with GET and HEAD.
    package var body: [UInt8] = []
    /// The PEM file of trusted authorities, in place of the system's.
    package var caFile: String?
    /// The PEM text of trusted authorities, in place of `caFile`; nil to use the file.
    package var caText: [UInt8]?
    /// Whether the authorities of the operating system are trusted in addition to those in `caFile` or `caText`.
    package var alsoTrustsSystem = false
    /// The proxy, or empty for none, regardless of the environment; nil to use the environment's.
    package var proxy: String?
    /// The PEM file of the client certificate, for servers that request one.
    package var clientCertificateFile: String?
    /// The PEM file of its key; nil if the certificate's file contains the key.
    package var clientKeyFile: String?
    /// The path of a UNIX socket to connect through.
    package var unixSocket: String?
    /// The `host:port` to connect to in place of the URL's.
    var connectTo: String?
    /// Whether the response must be HTTP/2: with TLS by ALPN h2, without TLS by prior knowledge.
    package var requiresHTTP2 = false
    /// Whether to connect, through proxy and TLS, without sending a request: for `MultiClient.connect`.
    var connectsOnly = false
    /// The timeout of the whole transfer; nil for a stream.
    package var timeout: Duration? = .seconds(30)
    /// Whether to open a new connection, because a reused one may be dead.
    package var needsFreshConnection = false
    /// The maximum size of a response body in bytes; a longer one fails.
    ///
    /// Streams (`onBody`) have no limit.
    package var answerByteCountMax = 16 * 1024 * 1024
    /// Whether only the head of the response matters.
    ///
    /// The body is dropped, and a body that is too long or incomplete is not an error.
    package var ignoresBody = false

    /// Whether to accept any certificate, in order to inspect it.
    ///
    /// Used with `MultiClient.connect` and `CurlChannel.certificates` for a server that is not trusted yet.
    package var looksAtCertificates = false

    /// Creates a request with the default options.
    package init(method: String, url: String) {
        self.method = method
        self.url = url
    }
}
