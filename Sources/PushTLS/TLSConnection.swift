// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// One side of a TLS connection over a non-blocking socket; owns one `SSL *`, not the descriptor.
///
/// ```
///   handshaking ──done──▶ open ──close_notify, end of the bytes──▶ halfClosed ──close()──▶ broken
///        └─────────────────┴──error, close()──▶ broken       (no further calls of OpenSSL)
/// ```
@safe package final class TLSConnection {
    /// The application protocol above TLS.
    package enum Application: Sendable {
        /// HTTP/2, `h2` in ALPN.
        case http2
        /// HTTP/1.1, `http/1.1` in ALPN.
        case http1
        /// The peer did not use ALPN: look at its first bytes.
        case unknown
    }

    /// The next step of a handshake.
    package enum Progress: Sendable {
        /// The handshake is done: read and write.
        case done
        /// Call again when the socket is readable.
        case wantsRead
        /// Call again when the socket is writable.
        case wantsWrite
    }

    /// The result of a read or a write.
    package enum Transfer: Sendable, Hashable {
        /// The number of bytes that were read or accepted.
        case bytes(Int)
        /// Call again when the socket is readable.
        case wantsRead
        /// Call again when the socket is writable.
        case wantsWrite
        /// The peer sends no more, with or without close_notify.
        case closed
    }

    private enum State {
        case handshaking
        case open
        /// The peer sends no more, with or without close_notify; it may still accept data.
        case halfClosed
        /// We closed the connection, or OpenSSL failed permanently.
        case broken
    }

    /// The `SSL *`, for the extensions of this type.
    let pointer: OpaquePointer
    let context: TLSContext
    private var state = State.handshaking
    /// Whether the last read found no complete record: OpenSSL then holds at most a part of one.
    private var inputIsDrained = true
    /// The size of the pending write that must be repeated, in bytes.
    private var pendingWriteByteCount = 0
    private let descriptor: Int32
    /// The memory from which OpenSSL reads input that `feed` has added; nil if it reads the socket.
    private var fedInput: OpaquePointer?

    /// Creates the server side of a connection.
    ///
    /// - Parameters:
    ///   - context: The settings, which the connection retains.
    ///   - descriptor: The socket, which the caller owns and closes after this object is deallocated.
    ///   - isFed: Whether the handshake's input comes from `feed` instead of the socket.
    /// - Throws: `TLSError.library` when memory ran out.
    package init(_ context: TLSContext, descriptor: Int32, isFed: Bool = false) throws(TLSError) {
        self.context = context
        self.descriptor = descriptor
        unsafe pointer = try ErrorQueue.check("making a TLS connection") { unsafe SSL_new(context.pointer) }
        try ErrorQueue.check("making a TLS connection") { unsafe SSL_set_fd(pointer, descriptor) }
        unsafe SSL_set_accept_state(pointer)
        guard isFed else { return }
        let memory = try unsafe ErrorQueue.check("making a TLS connection") { unsafe BIO_new(BIO_s_mem()) }
        // Without more input, OpenSSL must wait instead of seeing the end.
        unsafe BIO_ctrl(memory, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
        unsafe SSL_set0_rbio(pointer, memory)
        unsafe fedInput = memory
    }

    /// Creates the client side of a connection to another server.
    ///
    /// - Parameters:
    ///   - context: The settings of a client, which the connection retains.
    ///   - name: The name that the other server's certificate must have.
    ///   - descriptor: The connected socket, which the caller owns and closes after this object is deallocated.
    /// - Throws: `TLSError.library` when memory ran out.
    package init(_ context: TLSContext, to name: String, descriptor: Int32) throws(TLSError) {
        self.context = context
        self.descriptor = descriptor
        let purpose = "making a TLS connection"
        unsafe pointer = try ErrorQueue.check(purpose) { unsafe SSL_new(context.pointer) }
        try ErrorQueue.check(purpose) { unsafe SSL_set_fd(pointer, descriptor) }
        try ErrorQueue.check(purpose) { unsafe SSL_set1_host(pointer, name) }
        // SSL_set_tlsext_host_name is a macro for this call.
        try ErrorQueue.check(purpose) {
            unsafe name.withCString { name in
                let text = unsafe UnsafeMutableRawPointer(mutating: name)
                let command = SSL_CTRL_SET_TLSEXT_HOSTNAME
                return Int32(unsafe SSL_ctrl(pointer, command, Int(TLSEXT_NAMETYPE_host_name), text))
            }
        }
        unsafe SSL_set_connect_state(pointer)
    }

    deinit { unsafe SSL_free(pointer) }

    /// Whether the next step of the handshake reads only what `feed` has added.
    package var isFed: Bool { unsafe fedInput != nil }

    /// Adds input for the next step of the handshake: whole records, which end where the step may stop reading.
    package func feed(_ bytes: UnsafeRawBufferPointer) throws(TLSError) {
        guard let fedInput = unsafe fedInput else { preconditionFailure("input was fed to a connection that reads") }
        try ErrorQueue.check("reading a handshake") {
            unsafe BIO_write(fedInput, bytes.baseAddress, Int32(bytes.count)) == bytes.count ? 1 : 0
        }
    }

    /// Lets OpenSSL read the socket from now on; all fed input was read.
    private func readSocket() throws(TLSError) {
        guard unsafe fedInput != nil else { return }
        unsafe fedInput = nil
        try ErrorQueue.check("reading a socket") { unsafe SSL_set_rfd(pointer, descriptor) }
    }

    /// Continues the handshake; call again when the socket is ready.
    ///
    /// - Returns: The next step.
    /// - Throws: `TLSError.peer`: close the socket.
    package func handshake() throws(TLSError) -> Progress {
        switch state {
        case .handshaking: break
        case .open: return .done
        case .halfClosed, .broken: throw .peer("the connection is closed")
        }
        let code = ErrorQueue.cleared { unsafe SSL_do_handshake(pointer) }
        if code == 1 {
            state = .open
            try readSocket()
            // Read-ahead fetches a whole flight of records with one read(2). It is enabled only now: otherwise OpenSSL
            // could already hold bytes while the caller waits for the socket for the first time.
            unsafe SSL_set_read_ahead(pointer, 1)
            return .done
        }
        let progress: Transfer
        do throws(TLSError) { progress = try outcome(ofCode: code) } catch { throw verificationFailure ?? error }
        // Only TLS 1.3 has a second ClientHello. With TLS 1.2, a client may send data before the last step.
        if unsafe SSL_version(pointer) != TLS1_3_VERSION { try readSocket() }
        switch progress {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closed, .bytes: throw .peer("the peer left during the handshake")
        }
    }

    /// The reason why the server's certificate is not trusted; nil if it is, and on the server side.
    private var verificationFailure: TLSError? {
        guard unsafe SSL_is_server(pointer) == 0 else { return nil }
        let code = unsafe SSL_get_verify_result(pointer)
        guard code != Int(X509_V_OK) else { return nil }
        let reason = unsafe String(cString: X509_verify_cert_error_string(code))
        return .peer("the server's certificate is not trusted: \(reason)")
    }

    /// Whether the handshake is done and no error occurred since, so that its results can be trusted.
    var isEstablished: Bool {
        switch state {
        case .open, .halfClosed: true
        case .handshaking, .broken: false
        }
    }

    /// The protocol that ALPN selected; `unknown` if the peer did not use ALPN: look at its first bytes.
    package var application: Application {
        var name: UnsafePointer<UInt8>?
        var byteCount: UInt32 = 0
        unsafe SSL_get0_alpn_selected(pointer, &name, &byteCount)
        let bytes = unsafe UnsafeBufferPointer(start: name, count: Int(byteCount))
        if unsafe bytes.elementsEqual("h2".utf8) { return .http2 }
        return unsafe bytes.elementsEqual("http/1.1".utf8) ? .http1 : .unknown
    }

    /// Reads decrypted bytes; continue while `hasBufferedInput`, or until `wantsRead`, before waiting for the socket.
    ///
    /// - Parameter buffer: The destination; 16 KiB hold any record.
    /// - Returns: The number of bytes, the event to wait for, or `closed` if the peer sends no more.
    /// - Throws: `TLSError.peer`: close the socket.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> Transfer {
        switch state {
        case .open: break
        case .halfClosed: return .closed
        case .broken: throw .peer("the connection is closed")
        case .handshaking: preconditionFailure("read before the handshake was done")
        }
        guard unsafe !buffer.isEmpty else { return .bytes(0) }
        var byteCount = 0
        let code = ErrorQueue.cleared { unsafe SSL_read_ex(pointer, buffer.baseAddress, buffer.count, &byteCount) }
        inputIsDrained = code != 1
        return code == 1 ? .bytes(byteCount) : try outcome(ofCode: code)
    }

    /// Encrypts and sends bytes; it may accept only the first part of them.
    ///
    /// A repeated call may pass a longer buffer that starts with the same bytes (partial write, moving buffer).
    ///
    /// - Parameter bytes: The data; after `wantsRead` or `wantsWrite`, at least as many bytes as before.
    /// - Returns: The number of accepted bytes, or the event to wait for.
    /// - Throws: `TLSError.peer`: close the socket.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) -> Transfer {
        switch state {
        case .open, .halfClosed: break
        case .broken: throw .peer("the connection is closed")
        case .handshaking: preconditionFailure("write before the handshake was done")
        }
        precondition(bytes.count >= pendingWriteByteCount, "a write was repeated with fewer bytes than before")
        guard unsafe !bytes.isEmpty else { return .bytes(0) }
        var byteCount = 0
        let code = ErrorQueue.cleared { unsafe SSL_write_ex(pointer, bytes.baseAddress, bytes.count, &byteCount) }
        pendingWriteByteCount = code == 1 ? 0 : bytes.count
        return code == 1 ? .bytes(byteCount) : try outcome(ofCode: code)
    }

    /// Whether decrypted or received bytes are buffered: read again before waiting for the socket.
    package var hasBufferedInput: Bool {
        unsafe state == .open && !inputIsDrained && SSL_has_pending(pointer) == 1
    }

    /// Whether OpenSSL holds a part of a record, and therefore a buffer of about 17 KiB.
    ///
    /// Only valid after `wantsRead`.
    package var holdsPartialRecord: Bool {
        // "RB" (read body) means that the header of a record has arrived and its body has not.
        unsafe SSL_has_pending(pointer) == 1 || strcmp(SSL_rstate_string(pointer), "RB") == 0
    }

    /// Sends close_notify if the connection is usable; does not wait for the peer's.
    package func close() {
        guard state == .open || state == .halfClosed else { return }
        state = .broken
        // Best effort: neither a full socket buffer nor a peer that has left must delay the close.
        _ = ErrorQueue.cleared { unsafe SSL_shutdown(pointer) }
        ERR_clear_error()
    }

    /// Interprets a failed call with `SSL_get_error`; reads errno and the error queue immediately.
    private func outcome(ofCode code: Int32) throws(TLSError) -> Transfer {
        let systemCode = errno
        switch unsafe SSL_get_error(pointer, code) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN:
            state = state == .handshaking ? .broken : .halfClosed
            return .closed
        case SSL_ERROR_SYSCALL:
            state = .broken
            let systemText = systemCode == 0 ? "the connection broke" : ErrorQueue.text(ofErrno: systemCode)
            throw .peer(ErrorQueue.takeText() ?? systemText)
        default:
            state = .broken
            throw .peer(ErrorQueue.takeText() ?? "OpenSSL gave no reason")
        }
    }
}
