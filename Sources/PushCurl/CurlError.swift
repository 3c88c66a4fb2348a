// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import PushTLS

/// An error of a transfer.
package struct CurlError: Error, Sendable, Equatable {
    /// The kinds of errors that callers distinguish.
    package enum Kind: Sendable {
        /// The host name is unknown, or no name server answers.
        case resolve
        /// The proxy's host name is unknown.
        case resolveProxy
        /// The port is closed, or the service on it does not speak TLS.
        case connect
        /// The proxy requires a user name and a password (407).
        case proxyAuthentication
        /// The proxy refuses to connect to the server.
        case proxyRefusal
        /// The server's certificate is not from a trusted authority, or only seems to be.
        case unknownAuthority
        /// The TLS handshake or the verification of the server's certificate failed in another way.
        case tls
        /// The server requires a client certificate.
        case clientCertificateRequired
        /// The server does not accept the client certificate.
        case clientCertificateRefused
        /// The server refused the handshake (handshake_failure): it wants another certificate, or another TLS version.
        case handshakeRefused
        /// The local file of trusted authorities cannot be used; no request was sent.
        case authorityFile
        /// The local client certificate or its key cannot be used; no request was sent.
        case certificateFile
        /// The timeout of the request has expired.
        case timeout
        /// The connection ended before the response was complete.
        case interrupted
        /// The request or the response is invalid.
        case other
    }

    /// The kind of the error.
    package var kind: Kind
    /// The `CURLcode`, for the log.
    package var code: Int32
    /// libcurl's text, for the user.
    package var message: String

    package init(kind: Kind, code: Int32, message: String) {
        self.kind = kind
        self.code = code
        self.message = message
    }
}

extension CurlError {
    /// Converts a `CURLcode`; this is the only place where that happens.
    ///
    /// - Parameters:
    ///   - code: The code of the transfer.
    ///   - detail: libcurl's text; empty if it has none.
    ///   - connectStatus: The HTTP status of the proxy's response to CONNECT; 0 without a proxy.
    ///   - verification: OpenSSL's result of verifying the server's certificate.
    init(_ code: CURLcode, detail: String, connectStatus: Int, verification: Int) {
        let text = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        let isUntrusted = code == CURLE_PEER_FAILED_VERIFICATION && PeerFailure.isUnknownAuthority(verification)
        let kind =
            isUntrusted
            ? .unknownAuthority : Kind(connectStatus: connectStatus) ?? Kind(code, tlsCode: Self.tlsCode(in: detail))
        self.init(kind: kind, code: Int32(truncatingIfNeeded: code.rawValue), message: text)
    }

    /// Returns the error for a request that cannot be sent, or a response that cannot be used.
    static func unusable(_ message: String) -> CurlError {
        CurlError(kind: .other, code: Int32(CURLE_BAD_FUNCTION_ARGUMENT.rawValue), message: message)
    }

    /// The error of a transfer whose connection was abandoned.
    static let abandoned = CurlError(
        kind: .interrupted, code: Int32(CURLE_ABORTED_BY_CALLBACK.rawValue), message: "the connection was given up")

    /// Returns OpenSSL's error code; nil if OpenSSL did not report the error.
    ///
    /// libcurl removes the code from OpenSSL's queue, but repeats it in its text as `error:` and eight hexadecimal
    /// digits, the form of ERR_error_string_n(3).
    private static func tlsCode(in detail: String) -> UInt? {
        guard let start = detail.firstRange(of: "error:")?.upperBound else { return nil }
        return UInt(detail[start...].prefix { $0.isHexDigit }, radix: 16)
    }
}

extension CurlError.Kind {
    /// Classifies a proxy's response to CONNECT; nil if it connected.
    fileprivate init?(connectStatus: Int) {
        switch connectStatus {
        case 407: self = .proxyAuthentication
        case 300...: self = .proxyRefusal
        default: return nil
        }
    }

    fileprivate init(_ code: CURLcode, tlsCode: UInt?) {
        // OpenSSL has no code if the peer disconnects during the handshake, as a crashing server does.
        if tlsCode == nil, code == CURLE_SSL_CONNECT_ERROR {
            self = .interrupted
            return
        }
        self =
            switch tlsCode.flatMap(PeerFailure.init) {
            case .notTLS: .connect
            case .disconnected: .interrupted
            case .certificateRequired: .clientCertificateRequired
            case .certificateRefused: .clientCertificateRefused
            case .handshakeRefused: .handshakeRefused
            case .badSignature: .unknownAuthority
            case nil: Self(code)
            }
    }

    fileprivate init(_ code: CURLcode) {
        self =
            switch code {
            case CURLE_COULDNT_RESOLVE_HOST: .resolve
            case CURLE_COULDNT_RESOLVE_PROXY: .resolveProxy
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .connect
            case CURLE_PROXY: .proxyRefusal
            case CURLE_SSL_CACERT_BADFILE: .authorityFile
            case CURLE_SSL_CERTPROBLEM: .certificateFile
            case CURLE_SSL_CLIENTCERT: .clientCertificateRequired
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND,
                CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
                CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_USE_SSL_FAILED:
                .tls
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
                CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND, CURLE_SSL_SHUTDOWN_FAILED:
                .interrupted
            default: .other
            }
    }
}
