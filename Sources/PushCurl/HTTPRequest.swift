// SPDX-License-Identifier: Apache-2.0

/// A request as a client sends it.
package struct HTTPRequest: Sendable {
    /// For example `GET`; letters only.
    package var method: String
    /// `https://…` or `http://…`; other schemes are refused.
    package var url: String
    /// Name and value, in this order; a control character in either fails the request.
    package var fields: [(String, String)] = []
    /// The body; not sent with GET and HEAD.
    package var body: [UInt8] = []
    /// PEM file of authorities to trust instead of the system's.
    package var caFile: String?
    /// Go by way of this proxy, or of none when empty, whatever the environment says; nil for what that says.
    package var proxy: String?
    /// PEM file of a certificate for servers that ask for one.
    package var clientCertificateFile: String?
    /// PEM file of its key; nil when that is in the same file.
    package var clientKeyFile: String?
    /// Connect through this UNIX socket.
    package var unixSocket: String?
    /// Connect to this `host:port` instead of the URL's.
    package var connectTo: String?
    /// HTTP/2 only (prior knowledge under TLS is not needed; ALPN h2).
    package var requiresHTTP2 = false
    /// Make the connection, by way of a proxy and TLS where they belong, and send nothing: for `MultiClient.connect`.
    var connectsOnly = false
    /// For the whole of it; nil for a stream.
    package var timeout: Duration? = .seconds(30)
    /// Do not reuse a connection that may be dead.
    package var needsFreshConnection = false
    /// The largest answer that is taken, in bytes; a larger one fails, but a stream (`onBody`) has no bound.
    package var answerByteCountMax = 16 * 1024 * 1024
    /// Only the head of the answer counts: the body is dropped, and a longer one than may be, or one that breaks off, is
    /// no failure.
    package var ignoresBody = false

    /// Takes whatever certificate the server shows: for a look at them, by `MultiClient.connect` and
    /// `CurlChannel.certificates`, at a server that is not trusted yet.
    package var looksAtCertificates = false

    /// Takes what every request has.
    package init(method: String, url: String) {
        self.method = method
        self.url = url
    }
}
