// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// The TLS settings of one side: certificate, versions and ciphers; shared by all connections created with them.
// Safety: `SSL_CTX` is reference-counted with atomics and locks itself; after `init` nothing changes it.
@safe package final class TLSContext: @unchecked Sendable {
    /// The `SSL_CTX *`, for connections.
    let pointer: OpaquePointer
    /// The SHA-256 hashes of the certificates of the server's own authority.
    var ownAuthorities: Set<[UInt8]> = []
    /// The settings for connections from other servers, which `ClientHello` selects by its server name; nil for none.
    private(set) var peers: TLSContext?
    /// The end of the server names that select these settings, with a dot before the domain.
    var peerSuffix: [UInt8] = []
    /// The end of the certificate's validity, in seconds since 1970.
    package private(set) var certificateExpiryUnixSeconds: Int64 = 0

    /// Creates settings for a server that does not request client certificates.
    ///
    /// - TLS 1.2 and 1.3 with AEAD ciphers only; no renegotiation, compression or early data.
    /// - Sessions are resumed with TLS 1.3 if the client showed no certificate; each handshake issues one ticket.
    /// - Buffers are released when idle.
    /// - ALPN selects `h2`, else `http/1.1`, and continues without a selection if the peer offers neither.
    ///
    /// It also makes the process ignore SIGPIPE: OpenSSL writes with `write(2)`, and a peer that disconnects must not
    /// kill the process.
    ///
    /// - Parameters:
    ///   - certificateChainFile: The PEM file with the server's certificate, then those that lead to its authority.
    ///   - privateKeyFile: The PEM file with the unencrypted private key.
    /// - Throws: `TLSError.badFile` with a remedy, for a file that is missing, is not PEM, or does not match the other
    ///   file; `TLSError.library` if OpenSSL itself fails.
    package convenience init(certificateChainFile: String, privateKeyFile: String) throws(TLSError) {
        try self.init(certificateChainFile, privateKeyFile, nil)
    }

    /// Creates settings like `init(certificateChainFile:privateKeyFile:)` that also request an optional client
    /// certificate.
    ///
    /// A client whose certificate is not trusted is still accepted, with the verdict `refused`, so that the server can
    /// report the reason to it.
    ///
    /// - Parameters:
    ///   - certificateChainFile: The PEM file with the server's certificate, then those that lead to its authority.
    ///   - privateKeyFile: The PEM file with the unencrypted private key.
    ///   - clientAuthorities: The authorities whose client certificates are trusted; without any, every certificate is
    ///     refused.
    ///   - peers: The credentials for connections from other servers like this one; nil if there are none.
    /// - Throws: The errors of the other initializer, and `TLSError.badFile` for an authority's file that is missing or
    ///   does not contain authorities' certificates.
    package convenience init(
        certificateChainFile: String, privateKeyFile: String, clientAuthorities: ClientAuthorities,
        peers: PeerCredentials? = nil
    ) throws(TLSError) {
        try self.init(certificateChainFile, privateKeyFile, clientAuthorities, peers)
    }

    private convenience init(
        _ certificateChainFile: String, _ privateKeyFile: String, _ clientAuthorities: ClientAuthorities?,
        _ credentials: PeerCredentials? = nil
    ) throws(TLSError) {
        try self.init(isServer: true)
        try loadCertificateChain(certificateChainFile)
        try loadPrivateKey(privateKeyFile, matching: certificateChainFile)
        certificateExpiryUnixSeconds = try expiryUnixSeconds()
        if let clientAuthorities {
            ownAuthorities = try unsafe ClientVerification.set(up: pointer, trusting: clientAuthorities)
        }
        if let credentials { peers = try acceptPeers(credentials) }
    }

    /// Creates settings without a certificate.
    init(isServer: Bool) throws(TLSError) {
        unsafe pointer = try ErrorQueue.check("making a TLS context") {
            unsafe SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method())
        }
        _ = signal(SIGPIPE, SIG_IGN)
        try restrictProtocol()
        try limitMemory()
        guard isServer else { return }
        unsafe SSL_CTX_set_alpn_select_cb(pointer, selectApplication, nil)
        unsafe SSL_CTX_set_session_ticket_cb(pointer, nil, decideOnTicket, nil)
    }

    deinit { unsafe SSL_CTX_free(pointer) }
}

extension TLSContext {
    /// The cipher suites of TLS 1.3; AES-128 is first because it is the fastest on processors with AES instructions.
    ///
    /// A peer that puts ChaCha20 first has no such instructions, and `prioritizeChaCha` then respects its preference.
    private static let cipherSuites13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    private static let cipherList12 =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384"
        + ":ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

    /// OpenSSL's `SSL_OP_…` values, which are macros.
    private enum Option {
        /// Treats an end without close_notify, as many programs leave, like one with it.
        ///
        /// The protocols above TLS have their own lengths, so a truncated stream cannot pass for a complete message.
        static let ignoreUnexpectedEnd: UInt64 = 1 << 7
        static let noCompression: UInt64 = 1 << 17
        static let prioritizeChaCha: UInt64 = 1 << 21
        static let serverPreference: UInt64 = 1 << 22
        static let noRenegotiation: UInt64 = 1 << 30
    }

    private func restrictProtocol() throws(TLSError) {
        let options =
            Option.ignoreUnexpectedEnd | Option.noCompression | Option.prioritizeChaCha | Option.serverPreference
            | Option.noRenegotiation
        _ = unsafe SSL_CTX_set_options(pointer, options)
        try control("setting the TLS version", SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION))
        try ErrorQueue.check("setting ciphers") { unsafe SSL_CTX_set_ciphersuites(pointer, Self.cipherSuites13) }
        try ErrorQueue.check("setting ciphers") { unsafe SSL_CTX_set_cipher_list(pointer, Self.cipherList12) }
        try ErrorQueue.check("setting curves") {
            unsafe "X25519:P-256".withCString { names in
                Int32(
                    unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: names)))
            }
        }
        try ErrorQueue.check("refusing early data") { unsafe SSL_CTX_set_max_early_data(pointer, 0) }
        // Each ticket costs a third of a handshake, and clients use only one.
        try ErrorQueue.check("setting tickets") { unsafe SSL_CTX_set_num_tickets(pointer, 1) }
    }

    private func limitMemory() throws(TLSError) {
        let mode = SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil)
        // One read must not continue for as long as a peer sends records without data, such as KeyUpdate.
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
        // Tickets carry the session, so a cache would only cost memory.
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    }

    func control(_ purpose: String, _ command: Int32, _ value: Int) throws(TLSError) {
        try ErrorQueue.check(purpose) { Int32(unsafe SSL_CTX_ctrl(pointer, command, value, nil)) }
    }
}

extension TLSContext {
    private func loadCertificateChain(_ path: String) throws(TLSError) {
        try Self.requireReadable(path)
        do {
            try ErrorQueue.check("reading") { unsafe SSL_CTX_use_certificate_chain_file(pointer, path) }
        } catch {
            throw .badFile(
                path: path, text: "write the server's certificate into it, in PEM (OpenSSL: \(error.reason))")
        }
    }

    private func loadPrivateKey(_ path: String, matching certificatePath: String) throws(TLSError) {
        let key = try Self.readPrivateKey(path)
        // Checked before SSL_CTX_use_PrivateKey, which silently accepts a key of another type than the certificate's.
        guard ErrorQueue.cleared({ unsafe X509_check_private_key(SSL_CTX_get0_certificate(pointer), key.pointer) }) == 1
        else {
            ERR_clear_error()
            throw .badFile(
                path: path, text: "write the key that belongs to the certificate in \(certificatePath) into it")
        }
        try ErrorQueue.check("taking the private key") { unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) }
    }

    private func expiryUnixSeconds() throws(TLSError) -> Int64 {
        var (days, seconds): (Int32, Int32) = (0, 0)
        let now = Int64(time(nil))
        try ErrorQueue.check("reading when a certificate expires") {
            unsafe ASN1_TIME_diff(&days, &seconds, nil, X509_get0_notAfter(SSL_CTX_get0_certificate(pointer)))
        }
        return now + Int64(days) * 86_400 + Int64(seconds)
    }

    private static func readPrivateKey(_ path: String) throws(TLSError) -> Handle<KeyKind> {
        try requireReadable(path)
        do {
            let file = try Handle<BufferKind>("reading") { unsafe BIO_new_file(path, "r") }
            return try Handle("reading") { unsafe PEM_read_bio_PrivateKey(file.pointer, nil, refusePassphrase, nil) }
        } catch {
            throw .badFile(
                path: path, text: "write a private key into it, in PEM, without a passphrase (OpenSSL: \(error.reason))"
            )
        }
    }

    /// Throws unless the file can be opened; OpenSSL's error text for such a file does not suggest a remedy.
    static func requireReadable(_ path: String) throws(TLSError) {
        guard !path.utf8.contains(0) else { throw .badFile(path: path, text: "write a path without zero bytes") }
        guard unsafe access(path, R_OK) != 0 else { return }
        throw .badFile(
            path: path, text: "make it a file that this process may read (\(ErrorQueue.text(ofErrno: errno)))")
    }
}

extension TLSError {
    /// OpenSSL's text without the file or purpose.
    var reason: String {
        switch self {
        case .library(_, let text), .badFile(_, let text), .peer(let text): text
        }
    }
}

/// The supported application protocols, preferred first, in the form of the extension: each with its length before it.
///
/// Never freed, because OpenSSL keeps pointers into it.
// Safety: allocated once, and only read afterwards.
private nonisolated(unsafe) let applications: UnsafeBufferPointer<UInt8> = {
    let bytes = [UInt8(2)] + "h2".utf8 + [UInt8(8)] + "http/1.1".utf8
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = unsafe buffer.initialize(fromContentsOf: bytes)
    return UnsafeBufferPointer(buffer)
}()

/// Accepts a ticket only with TLS 1.3, and only for a session without a client certificate.
///
/// With TLS 1.2, the server name would be that of the first handshake, whatever the client requests now. A client
/// certificate must be verified again, with the current date and authorities. Other clients do a full handshake.
private func decideOnTicket(
    _ connection: OpaquePointer?, _ session: OpaquePointer?, _ keyName: UnsafePointer<UInt8>?,
    _ keyNameByteCount: Int, _ status: Int32, _ data: UnsafeMutableRawPointer?
) -> Int32 {
    guard status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW else {
        return SSL_TICKET_RETURN_IGNORE_RENEW
    }
    guard unsafe SSL_version(connection) >= TLS1_3_VERSION, unsafe SSL_SESSION_get0_peer(session) == nil else {
        return SSL_TICKET_RETURN_IGNORE
    }
    return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW
}

/// Selects one of the peer's protocols with `SSL_select_next_proto`; continues without one if none is supported.
private func selectApplication(
    _ connection: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedByteCount: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredByteCount: UInt32,
    _ data: UnsafeMutableRawPointer?
) -> Int32 {
    var choice: UnsafeMutablePointer<UInt8>?
    var choiceByteCount: UInt8 = 0
    let outcome = unsafe SSL_select_next_proto(
        &choice, &choiceByteCount, applications.baseAddress, UInt32(applications.count), offered, offeredByteCount)
    guard outcome == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_NOACK }
    unsafe selected?.pointee = UnsafePointer(choice)
    unsafe selectedByteCount?.pointee = choiceByteCount
    return SSL_TLSEXT_ERR_OK
}
