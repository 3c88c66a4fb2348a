// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// Server side settings of TLS: certificate, versions, ciphers; shared by all connections made with it.
// Safety: `SSL_CTX` is reference-counted with atomics and locks itself; after `init` nothing changes it.
@safe package final class TLSContext: @unchecked Sendable {
    /// The `SSL_CTX *`, lent to connections.
    let pointer: OpaquePointer
    /// SHA-256 of the certificates of the server's own authority.
    private(set) var ownAuthorities: Set<[UInt8]> = []

    /// TLS 1.2 and 1.3, AEAD only, no renegotiation, compression or early data, one ticket, buffers released when
    /// idle; sessions are resumed with TLS 1.3, where the client showed no certificate; ALPN selects `h2`, else `http/1.1`, and goes on without when the peer offers none of them.
    ///
    /// It also makes the process ignore SIGPIPE: OpenSSL writes with `write(2)`, and a peer that leaves must not end us.
    ///
    /// - Parameters:
    ///   - certificateChainFile: PEM: the server's certificate, then those that lead to its authority.
    ///   - privateKeyFile: PEM, not encrypted.
    /// - Throws: `TLSError.badFile` for a file that is missing, not PEM, or not the other's partner, with what to do;
    ///   `TLSError.library` when OpenSSL itself refuses.
    package convenience init(certificateChainFile: String, privateKeyFile: String) throws(TLSError) {
        try self.init(certificateChainFile, privateKeyFile, nil)
    }

    /// As `init(certificateChainFile:privateKeyFile:)`, and asks clients for a certificate, which they need not have.
    ///
    /// A client whose certificate is not to be believed is let in all the same, with the verdict `refused`, so that the
    /// server can tell it why.
    ///
    /// - Parameters:
    ///   - certificateChainFile: PEM: the server's certificate, then those that lead to its authority.
    ///   - privateKeyFile: PEM, not encrypted.
    ///   - clientAuthorities: Whose client certificates are believed; where there is none, every one is refused.
    /// - Throws: As the other one, and `TLSError.badFile` for an authority's file that is missing or holds something
    ///   else than authorities' certificates.
    package convenience init(
        certificateChainFile: String, privateKeyFile: String, clientAuthorities: ClientAuthorities
    ) throws(TLSError) {
        try self.init(certificateChainFile, privateKeyFile, clientAuthorities)
    }

    private init(
        _ certificateChainFile: String, _ privateKeyFile: String, _ clientAuthorities: ClientAuthorities?
    ) throws(TLSError) {
        unsafe pointer = try ErrorQueue.check("making a TLS context") { unsafe SSL_CTX_new(TLS_server_method()) }
        _ = signal(SIGPIPE, SIG_IGN)
        try restrictProtocol()
        try limitMemory()
        try loadCertificateChain(certificateChainFile)
        try loadPrivateKey(privateKeyFile, matching: certificateChainFile)
        if let clientAuthorities {
            ownAuthorities = try unsafe ClientVerification.set(up: pointer, trusting: clientAuthorities)
        }
        unsafe SSL_CTX_set_alpn_select_cb(pointer, selectApplication, nil)
        unsafe SSL_CTX_set_session_ticket_cb(pointer, nil, judgeTicket, nil)
    }

    deinit { unsafe SSL_CTX_free(pointer) }
}

extension TLSContext {
    /// AES-128 first, because it is the fastest where the processor has AES; a peer that puts ChaCha20 first has none,
    /// and `prioritizeChaCha` then gives it what it wants.
    private static let cipherSuites13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    private static let cipherList12 =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384"
        + ":ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

    /// OpenSSL's `SSL_OP_…`, which are macros.
    private enum Option {
        /// An end without close_notify, as many programs leave, is one as with it.
        ///
        /// What is carried here has its own lengths, so an end in the middle cannot pass for a whole message.
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
        // Each ticket costs a third of a handshake, and clients use one.
        try ErrorQueue.check("setting tickets") { unsafe SSL_CTX_set_num_tickets(pointer, 1) }
    }

    private func limitMemory() throws(TLSError) {
        let mode = SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_MODE, Int(mode), nil)
        // One read must not go on for as long as a peer sends records without data, such as KeyUpdate.
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
        // Tickets carry the session, so a cache would only cost memory.
        _ = unsafe SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
    }

    private func control(_ purpose: String, _ command: Int32, _ value: Int) throws(TLSError) {
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
        // Before SSL_CTX_use_PrivateKey, which silently takes a key of another type than the certificate's.
        guard ErrorQueue.cleared({ unsafe X509_check_private_key(SSL_CTX_get0_certificate(pointer), key.pointer) }) == 1
        else {
            ERR_clear_error()
            throw .badFile(
                path: path, text: "write the key that belongs to the certificate in \(certificatePath) into it")
        }
        try ErrorQueue.check("taking the private key") { unsafe SSL_CTX_use_PrivateKey(pointer, key.pointer) }
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

    /// OpenSSL's own words for a file that it cannot open do not say what to do.
    static func requireReadable(_ path: String) throws(TLSError) {
        guard !path.utf8.contains(0) else { throw .badFile(path: path, text: "write a path without zero bytes") }
        guard unsafe access(path, R_OK) != 0 else { return }
        throw .badFile(
            path: path, text: "make it a file that this process may read (\(ErrorQueue.text(ofErrno: errno)))")
    }
}

extension TLSError {
    /// The library's words alone.
    var reason: String {
        switch self {
        case .library(_, let text), .badFile(_, let text), .peer(let text): text
        }
    }
}

/// The applications that we speak, best first, in the form of the extension: each with its length before it.
///
/// It lives for ever, because OpenSSL keeps pointers into it.
// Safety: allocated once, and only read afterwards.
private nonisolated(unsafe) let applications: UnsafeBufferPointer<UInt8> = {
    let bytes = [UInt8(2)] + "h2".utf8 + [UInt8(8)] + "http/1.1".utf8
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    _ = unsafe buffer.initialize(fromContentsOf: bytes)
    return UnsafeBufferPointer(buffer)
}()

/// Takes a ticket only where what it stands for is said again, or was never said.
///
/// With TLS 1.2 the server name is the first handshake's, whatever the client asks for now; and a client certificate is
/// to be judged by today's date and authorities. Such a client makes a whole handshake.
private func judgeTicket(
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

/// Chooses among the peer's applications with `SSL_select_next_proto`; goes on without one when none is ours.
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
