// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The failures of a TLS peer that a client distinguishes, by OpenSSL's reason codes.
package enum PeerFailure: Sendable {
    /// The peer does not speak TLS.
    case notTLS
    /// The peer disconnected without an alert.
    case disconnected
    /// The peer requires a client certificate.
    case certificateRequired
    /// The peer does not accept the client certificate.
    case certificateRefused
    /// The peer refused the handshake without a reason (handshake_failure).
    case handshakeRefused
    /// A signature of the peer is wrong: that of its certificate, whose authority only has the name of a trusted one,
    /// or that of the handshake.
    case badSignature

    /// Converts an error code, as ERR_get_error(3) returns it; nil for other errors, for example of the local
    /// configuration.
    package init?(errorCode code: UInt) {
        switch (ERR_GET_LIB(code), ERR_GET_REASON(code)) {
        case (ERR_LIB_SSL, let reason): self.init(reason: reason)
        // OpenSSL reports the key's algorithm before the verification, and only the first error is known.
        case (ERR_LIB_ASN1, Int32(ERR_R_EVP_LIB)), (ERR_LIB_RSA, _), (ERR_LIB_EC, _): self = .badSignature
        default: return nil
        }
    }

    private init?(reason: Int32) {
        switch reason {
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_UNKNOWN_PROTOCOL, SSL_R_PACKET_LENGTH_TOO_LONG: self = .notTLS
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: self = .disconnected
        case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: self = .certificateRequired
        case SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED,
            SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN,
            SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
            self = .certificateRefused
        case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE: self = .handshakeRefused
        case SSL_R_BAD_SIGNATURE: self = .badSignature
        default: return nil
        }
    }

    /// Returns whether a verification failed because no trusted authority signed the certificate; the code is that of
    /// SSL_get_verify_result(3).
    ///
    /// OpenSSL builds the chain before it checks dates, so an expired certificate of an unknown authority counts too.
    ///
    /// - Parameter code: The result of the verification.
    /// - Returns: Whether the authority is unknown; false for a certificate that expired or has another name.
    package static func isUnknownAuthority(_ code: Int) -> Bool {
        switch Int32(truncatingIfNeeded: code) {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_CERT_UNTRUSTED:
            true
        default: false
        }
    }
}
