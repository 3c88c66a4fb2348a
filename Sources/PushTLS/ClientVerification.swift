// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The request for client certificates, and their verification by the server.
///
/// OpenSSL verifies during the handshake, but only records the result (`SSL_get_verify_result`). The handshake
/// continues with any certificate whose key the client has proved to hold.
enum ClientVerification {
    /// The largest number of intermediate authorities between a client's certificate and a trusted one.
    private static let intermediateCountMax: Int32 = 4
    /// The largest size of all certificates that a client sends, in bytes: four with 4096-bit RSA keys fit.
    private static let chainByteCountMax = 8 * 1024
    /// The largest number of authorities; each is named in each handshake.
    private static let authorityCountMax = 100

    /// Configures a context to request and verify client certificates.
    ///
    /// - Parameters:
    ///   - context: The `SSL_CTX *`.
    ///   - authorities: The authorities whose certificates are trusted.
    /// - Returns: The SHA-256 hashes of the certificates of the server's own authority.
    /// - Throws: `TLSError.badFile` for a file that does not contain authorities' certificates.
    static func set(
        up context: OpaquePointer, trusting authorities: ClientAuthorities
    ) throws(TLSError) -> Set<[UInt8]> {
        let store = try makeStore()
        var own: Set<[UInt8]> = []
        var known: Set<[UInt8]> = []
        if let path = authorities.ownFile {
            try unsafe trust(open(path), path, in: context, store, &known)
            own = known
        }
        for path in authorities.otherFiles { try unsafe trust(open(path), path, in: context, store, &known) }
        try unsafe request(in: context, store)
        return own
    }

    /// Configures a context to request and verify certificates of one's own authorities.
    ///
    /// - Parameters:
    ///   - context: The `SSL_CTX *`.
    ///   - text: The certificates of the authorities, in PEM.
    /// - Returns: The SHA-256 hashes of these certificates.
    /// - Throws: `TLSError.badFile` for a text that does not contain authorities' certificates.
    static func set(up context: OpaquePointer, trustingOwn text: [UInt8]) throws(TLSError) -> Set<[UInt8]> {
        let store = try makeStore()
        var own: Set<[UInt8]> = []
        try unsafe trust(PEM.reading(text), "the authority", in: context, store, &own)
        try unsafe request(in: context, store)
        return own
    }

    /// Returns an empty store in which an authority is trusted as it is, even if another authority signed it.
    static func makeStore() throws(TLSError) -> Handle<StoreKind> {
        let store = try Handle<StoreKind>("loading the trusted CAs") { unsafe X509_STORE_new() }
        try ErrorQueue.check("loading the trusted CAs") {
            unsafe X509_STORE_set_flags(store.pointer, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        }
        return store
    }

    /// Sets the store of a context, and requests certificates.
    private static func request(in context: OpaquePointer, _ store: borrowing Handle<StoreKind>) throws(TLSError) {
        // SSL_CTX_set1_verify_cert_store is a macro for this call. SSL_CTX_set_cert_store is not used: OpenSSL would
        // also build the chain that it sends with the server's own certificate from that store.
        try ErrorQueue.check("loading the trusted CAs") {
            Int32(unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_VERIFY_CERT_STORE, 1, .init(store.pointer)))
        }
        _ = unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, chainByteCountMax, nil)
        unsafe SSL_CTX_set_verify_depth(context, intermediateCountMax)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        unsafe SSL_CTX_set_cert_verify_callback(context, noteVerdict, nil)
        // Without a session context, OpenSSL aborts a handshake that would resume a session.
        let sessionContext = Array("clients".utf8)
        try ErrorQueue.check("setting the session ID context") {
            unsafe SSL_CTX_set_session_id_context(context, sessionContext, UInt32(sessionContext.count))
        }
    }

    private static func trust(
        _ file: borrowing Handle<BufferKind>, _ path: String, in context: OpaquePointer,
        _ store: borrowing Handle<StoreKind>, _ known: inout Set<[UInt8]>
    ) throws(TLSError) {
        var fileCount = 0
        while let certificate = try next(in: file, path, isFirst: fileCount == 0) {
            fileCount += 1
            guard ErrorQueue.cleared({ unsafe X509_check_ca(certificate.pointer) }) != 0 else {
                throw .badFile(
                    path: path, text: "leave only certificates of authorities in it: number \(fileCount) may not sign")
            }
            guard known.insert(try certificate.fingerprint()).inserted else { continue }
            guard known.count <= authorityCountMax else {
                throw .badFile(path: path, text: "trust at most \(authorityCountMax) authorities")
            }
            try ErrorQueue.check("adding a CA to the trusted ones") {
                unsafe X509_STORE_add_cert(store.pointer, certificate.pointer)
            }
            try ErrorQueue.check("adding a CA to the certificate request") {
                unsafe SSL_CTX_add_client_CA(context, certificate.pointer)
            }
        }
    }

    private static func open(_ path: String) throws(TLSError) -> Handle<BufferKind> {
        try TLSContext.requireReadable(path)
        do {
            return try Handle<BufferKind>("reading") { unsafe BIO_new_file(path, "r") }
        } catch {
            throw .badFile(path: path, text: "make it a file that this process may read (OpenSSL: \(error.reason))")
        }
    }

    /// Returns the next certificate of a file; nil at the end.
    private static func next(
        in file: borrowing Handle<BufferKind>, _ path: String, isFirst: Bool
    ) throws(TLSError) -> Handle<CertificateKind>? {
        let found = unsafe ErrorQueue.cleared { unsafe PEM_read_bio_X509(file.pointer, nil, refusePassphrase, nil) }
        if let found = unsafe found { return try Handle("reading") { unsafe found } }
        let isEnd = !isFirst && ErrorQueue.isNext(library: ERR_LIB_PEM, reason: PEM_R_NO_START_LINE)
        let reason = ErrorQueue.takeText() ?? "no reason"
        guard isEnd else {
            throw .badFile(path: path, text: "write certificates of authorities into it, in PEM (OpenSSL: \(reason))")
        }
        return nil
    }
}

extension ClientAuthorities {
    /// Checks the files by loading them as a server would.
    ///
    /// - Throws: `TLSError.badFile` with a remedy, for a file that is missing or does not contain authorities'
    ///   certificates.
    package func check() throws(TLSError) {
        let context = unsafe try ErrorQueue.check("making a TLS context") { unsafe SSL_CTX_new(TLS_server_method()) }
        defer { unsafe SSL_CTX_free(context) }
        _ = try unsafe ClientVerification.set(up: context, trusting: self)
    }
}

/// Verifies a client's chain and continues the handshake, whatever the result, which OpenSSL keeps.
///
/// A chain with many extensions or long names ends the handshake, because decoding them takes memory. A chain that no
/// trusted authority has signed is not decoded any further.
private func noteVerdict(_ chain: OpaquePointer?, _ data: UnsafeMutableRawPointer?) -> Int32 {
    // Errors that the verification leaves in the queue would otherwise be taken for errors of the handshake.
    ERR_set_mark()
    defer { ERR_pop_to_mark() }
    let sent = unsafe ClientChain(chain)
    guard sent.isSmall else {
        unsafe X509_STORE_CTX_set_error(chain, X509_V_ERR_CERT_CHAIN_TOO_LONG)
        return 0
    }
    guard sent.isVouchedFor else {
        unsafe X509_STORE_CTX_set_error(chain, sent.defect)
        return 1
    }
    let isGood = unsafe X509_verify_cert(chain) == 1
    if !isGood, unsafe X509_STORE_CTX_get_error(chain) == X509_V_OK {
        unsafe X509_STORE_CTX_set_error(chain, X509_V_ERR_UNSPECIFIED)
    }
    return 1
}
