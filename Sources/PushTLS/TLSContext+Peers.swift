// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Connections between servers of the same kind, with TLS 1.3 and certificates of one authority on both sides.
///
/// These connections use the same port as all clients. The name in the TLS handshake distinguishes them: a peer asks for
/// a name in the domain of the credentials. The accepting server then shows and requests certificates of peers.
extension TLSContext {
    /// Creates settings for connections to other servers.
    ///
    /// - Parameter credentials: The certificate to show, and the authorities to trust.
    /// - Throws: `TLSError.library` for texts that are no certificates, or a key that does not match.
    package convenience init(connectingWith credentials: PeerCredentials) throws(TLSError) {
        try self.init(isServer: false)
        try use(credentials)
        let store = try ClientVerification.makeStore()
        for authority in try AuthorityCertificate.all(in: credentials.authorities) {
            let certificate = try PEM.certificate(authority.pem)
            try ErrorQueue.check(Self.peerPurpose) {
                unsafe X509_STORE_add_cert(store.pointer, certificate.pointer)
            }
        }
        try ErrorQueue.check(Self.peerPurpose) {
            Int32(unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_VERIFY_CERT_STORE, 1, .init(store.pointer)))
        }
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        let protocols = [UInt8(8)] + "http/1.1".utf8
        // Unlike other functions, this one returns 0 on success.
        try ErrorQueue.check(Self.peerPurpose) {
            unsafe SSL_CTX_set_alpn_protos(pointer, protocols, UInt32(protocols.count)) == 0 ? 1 : 0
        }
    }

    private static let peerPurpose = "setting up connections between servers"

    /// Shows a certificate, and requires TLS 1.3.
    private func use(_ credentials: PeerCredentials) throws(TLSError) {
        try control(Self.peerPurpose, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_3_VERSION))
        let certificate = try PEM.certificate(credentials.certificate)
        let key = try PEM.privateKey(credentials.privateKey)
        try ErrorQueue.check(Self.peerPurpose) { unsafe X509_check_private_key(certificate.pointer, key.pointer) }
        try ErrorQueue.check(Self.peerPurpose) { unsafe SSL_CTX_use_certificate(pointer, certificate.pointer) }
        try ErrorQueue.check(Self.peerPurpose) { unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) }
    }

    /// Creates the settings for connections from other servers, and selects them by the server name.
    func acceptPeers(_ credentials: PeerCredentials) throws(TLSError) -> TLSContext {
        let peers = try TLSContext(isServer: true)
        try peers.use(credentials)
        peers.ownAuthorities = try unsafe ClientVerification.set(
            up: peers.pointer, trustingOwn: credentials.authorities)
        peers.peerSuffix = Array(".\(credentials.domain)".utf8)
        // Not retained: these settings own the others.
        unsafe SSL_CTX_set_client_hello_cb(pointer, selectSettings, Unmanaged.passUnretained(peers).toOpaque())
        return peers
    }
}

/// Selects the settings for other servers if the client asks for a name in their domain.
private func selectSettings(
    _ connection: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard let data = unsafe data, unsafe connection != nil else { return SSL_CLIENT_HELLO_SUCCESS }
    let peers = unsafe Unmanaged<TLSContext>.fromOpaque(data).takeUnretainedValue()
    guard unsafe asksForPeer(connection, suffix: peers.peerSuffix) else { return SSL_CLIENT_HELLO_SUCCESS }
    let isSelected =
        unsafe SSL_set_SSL_CTX(connection, peers.pointer) == peers.pointer
        && SSL_ctrl(connection, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_3_VERSION), nil) == 1
    guard isSelected else { return SSL_CLIENT_HELLO_ERROR }
    // SSL_set_SSL_CTX takes over certificates and the functions that verify, but not whether one is requested.
    unsafe SSL_set_verify(connection, SSL_VERIFY_PEER, nil)
    return SSL_CLIENT_HELLO_SUCCESS
}

/// Returns whether the server name of a ClientHello ends with a suffix.
///
/// - SeeAlso: RFC 6066, section 3
private func asksForPeer(_ connection: OpaquePointer?, suffix: [UInt8]) -> Bool {
    var start: UnsafePointer<UInt8>?
    var byteCount = 0
    let isPresent = unsafe SSL_client_hello_get0_ext(
        connection, UInt32(TLSEXT_TYPE_server_name), &start, &byteCount)
    guard isPresent == 1 else { return false }
    // The length of the list, the type, the length of the name: OpenSSL takes only one name.
    let name = unsafe UnsafeBufferPointer(start: start, count: byteCount).dropFirst(5)
    guard unsafe name.count > suffix.count else { return false }
    return unsafe name.suffix(suffix.count).elementsEqual(suffix)
}
