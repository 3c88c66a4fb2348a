// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// One TLS connection over a non-blocking socket, server side; owns one `SSL *`, not the descriptor.
///
/// ```
///   handshaking ──done──▶ open ──close_notify, end of the bytes──▶ halfClosed ──close()──▶ broken
///        └─────────────────┴──error, close()──▶ broken       (nothing more may be asked of OpenSSL)
/// ```
@safe package final class TLSConnection {
    /// What the peers speak above TLS.
    package enum Application: Sendable {
        /// `h2`.
        case http2
        /// `http/1.1`.
        case http1
        /// The peer did not say: look at its first bytes.
        case unknown
    }

    /// What a handshake needs.
    package enum Progress: Sendable {
        /// Nothing: read and write.
        case done
        /// A readable socket.
        case wantsRead
        /// A writable socket.
        case wantsWrite
    }

    /// What became of a read or a write.
    package enum Transfer: Sendable, Hashable {
        /// How many bytes were read or taken.
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
        /// The peer sends no more, with or without close_notify; it may still take what we send.
        case halfClosed
        /// We closed it, or OpenSSL failed for good.
        case broken
    }

    /// The `SSL *`, lent to extensions.
    let pointer: OpaquePointer
    let context: TLSContext
    private var state = State.handshaking
    /// The last read found no whole record: what OpenSSL still holds is a part of one.
    private var inputIsDrained = true
    /// How many bytes the write that must be repeated had.
    private var pendingWriteByteCount = 0

    /// Makes the server's end.
    ///
    /// - Parameters:
    ///   - context: Is kept as long as the connection.
    ///   - descriptor: Stays the caller's, who closes it after this object is gone.
    /// - Throws: `TLSError.library` when memory ran out.
    package init(_ context: TLSContext, descriptor: Int32) throws(TLSError) {
        self.context = context
        unsafe pointer = try ErrorQueue.check("making a TLS connection") { unsafe SSL_new(context.pointer) }
        try ErrorQueue.check("making a TLS connection") { unsafe SSL_set_fd(pointer, descriptor) }
        unsafe SSL_set_accept_state(pointer)
    }

    deinit { unsafe SSL_free(pointer) }

    /// Goes on with the handshake; call again when the socket is ready.
    ///
    /// - Returns: What it needs.
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
            // One read(2) for a whole flight of records. Only now, so that the caller's first wait for the socket is
            // not for bytes which OpenSSL holds already.
            unsafe SSL_set_read_ahead(pointer, 1)
            return .done
        }
        switch try outcome(ofCode: code) {
        case .wantsRead: return .wantsRead
        case .wantsWrite: return .wantsWrite
        case .closed, .bytes: throw .peer("the peer left during the handshake")
        }
    }

    /// The handshake was done and nothing broke since: what the peer said there may be believed.
    var isEstablished: Bool {
        switch state {
        case .open, .halfClosed: true
        case .handshaking, .broken: false
        }
    }

    /// What ALPN selected; `unknown` when the peer sent none: look at its first bytes.
    package var application: Application {
        var name: UnsafePointer<UInt8>?
        var byteCount: UInt32 = 0
        unsafe SSL_get0_alpn_selected(pointer, &name, &byteCount)
        let bytes = unsafe UnsafeBufferPointer(start: name, count: Int(byteCount))
        if unsafe bytes.elementsEqual("h2".utf8) { return .http2 }
        return unsafe bytes.elementsEqual("http/1.1".utf8) ? .http1 : .unknown
    }

    /// Reads decrypted bytes; go on while `hasBufferedInput`, or until `wantsRead`, before waiting for the socket.
    ///
    /// - Parameter buffer: Where to; 16 KiB hold any record.
    /// - Returns: The number of bytes, what the connection waits for, or that the peer sends no more.
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

    /// Encrypts and sends bytes, perhaps only the first of them.
    ///
    /// May be called again with a longer buffer that starts with the same bytes (partial write, moving buffer).
    ///
    /// - Parameter bytes: After `wantsRead` or `wantsWrite` at least as many as before.
    /// - Returns: How many bytes were taken, or what the connection waits for.
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

    /// Bytes that wait inside: read again before waiting for the socket.
    package var hasBufferedInput: Bool {
        unsafe state == .open && !inputIsDrained && SSL_has_pending(pointer) == 1
    }

    /// Sends close_notify if the connection is still good; does not wait for the peer's.
    package func close() {
        guard state == .open || state == .halfClosed else { return }
        state = .broken
        // Best effort: a full socket buffer or a peer that has left are both no reason to stay.
        _ = ErrorQueue.cleared { unsafe SSL_shutdown(pointer) }
        ERR_clear_error()
    }

    /// What a call that failed means, by `SSL_get_error`; reads errno and the error queue at once.
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
