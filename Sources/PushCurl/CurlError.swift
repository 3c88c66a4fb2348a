// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// An error of a transfer.
package struct CurlError: Error, Sendable, Equatable {
    /// The kinds of errors that callers distinguish.
    package enum Kind: Sendable {
        /// The host name is unknown, or no name server answers.
        case resolve
        /// The port is closed, or the service on it does not speak TLS.
        case connect
        /// The TLS handshake or the verification of the certificate failed.
        case tls
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
    init(_ code: CURLcode, detail: String) {
        let text = detail.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : detail
        self.init(kind: Kind(code, text), code: Int32(truncatingIfNeeded: code.rawValue), message: text)
    }

    /// Returns the error for a request that cannot be sent, or a response that cannot be used.
    static func unusable(_ message: String) -> CurlError {
        CurlError(CURLE_BAD_FUNCTION_ARGUMENT, detail: message)
    }

    /// The error of a transfer whose connection was abandoned.
    static let abandoned = CurlError(
        kind: .interrupted, code: Int32(CURLE_ABORTED_BY_CALLBACK.rawValue), message: "the connection was given up")
}

extension CurlError.Kind {
    /// OpenSSL's texts for a peer that disconnects during the handshake, as a crashing server does; no certificate was
    /// wrong.
    private static let hangUps = ["reset by peer", "SSL_ERROR_SYSCALL", "unexpected eof", "Broken pipe"]

    /// OpenSSL's texts for a response that is not TLS.
    private static let otherProtocols = ["wrong version number", "unknown protocol", "packet length too long"]

    fileprivate init(_ code: CURLcode, _ text: String) {
        self =
            switch code {
            case CURLE_SSL_CONNECT_ERROR where Self.otherProtocols.contains(where: text.contains): .connect
            case CURLE_SSL_CONNECT_ERROR where Self.hangUps.contains(where: text.contains): .interrupted
            case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
            case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED, CURLE_PROXY: .connect
            case CURLE_SSL_CACERT_BADFILE: .authorityFile
            case CURLE_SSL_CERTPROBLEM: .certificateFile
            case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_NOTFOUND,
                CURLE_SSL_ENGINE_SETFAILED,
                CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
                CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT,
                CURLE_USE_SSL_FAILED:
                .tls
            case CURLE_OPERATION_TIMEDOUT: .timeout
            case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
                CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND, CURLE_SSL_SHUTDOWN_FAILED:
                .interrupted
            default: .other
            }
    }
}
