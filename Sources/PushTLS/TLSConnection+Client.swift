// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension TLSConnection {
    /// The server name that the client requested (SNI), in lower case.
    ///
    /// Nil if the client named none or sent an invalid host name; available after the handshake.
    package var serverName: String? {
        guard isEstablished, let name = unsafe SSL_get_servername(pointer, TLSEXT_NAMETYPE_host_name) else {
            return nil
        }
        return unsafe HostName.normalized(UnsafeRawBufferPointer(start: name, count: strlen(name)))
    }

    /// The client's certificate; nil if the client sent none or the server did not request one.
    ///
    /// Available after the handshake, as long as the connection is not broken. Each access parses it again, which costs
    /// some microseconds: read it once and keep the result. It is nil for another server, which is no client.
    package var clientCertificate: ClientCertificate? { isOfPeer ? nil : certificate }

    /// The certificate of another server that connected by a name in the domain of `PeerCredentials`; nil for a client.
    ///
    /// Available like `clientCertificate`; its verdict is `own` if the authority of the credentials issued it.
    package var peerCertificate: ClientCertificate? { isOfPeer ? certificate : nil }

    private var isOfPeer: Bool { settings !== context }

    private var certificate: ClientCertificate? {
        guard isEstablished, let certificate = unsafe SSL_get0_peer_certificate(pointer) else { return nil }
        // SSL_get0_peer_certificate returns a borrowed reference.
        let reading = try? Handle<CertificateKind>("reading a certificate") {
            unsafe X509_up_ref(certificate) == 1 ? certificate : nil
        }
        guard let reading else { return nil }
        return ClientCertificate(reading, verdict: verdict(on: reading))
    }

    /// The settings that the client's server name selected.
    private var settings: TLSContext {
        guard let peers = context.peers, unsafe SSL_get_SSL_CTX(pointer) == peers.pointer else { return context }
        return peers
    }

    private func verdict(on certificate: borrowing Handle<CertificateKind>) -> ClientCertificate.Verdict {
        let code = unsafe SSL_get_verify_result(pointer)
        guard code == Int(X509_V_OK) else {
            return .refused(unsafe String(cString: X509_verify_cert_error_string(code)))
        }
        if certificate.repeatsAnExtension { return .refused("the certificate repeats an extension") }
        guard let anchor = verifiedAuthority() else { return .refused("it was not verified") }
        return settings.ownAuthorities.contains(anchor) ? .own : .other
    }

    /// Returns the SHA-256 hash of the trusted authority at the end of the verified chain; nil for a chain of one
    /// certificate.
    private func verifiedAuthority() -> [UInt8]? {
        let chain = unsafe SSL_get0_verified_chain(pointer)
        let count = unsafe OPENSSL_sk_num(chain)
        guard count > 1, let last = unsafe OPENSSL_sk_value(chain, count - 1) else { return nil }
        return unsafe CertificateFingerprint.of(OpaquePointer(last))
    }
}
