// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark
internal import Glibc

/// A TLS connection to a measured server.
///
/// Subclasses implement a protocol by overriding `opened`, `consume` and `lost`.
///
/// ```
///   connecting ──▶ shaking hands ──▶ open ──▶ closed
/// ```
class Connection {
    private enum State { case connecting, handshaking, open, closed }

    let loop: Loop
    let target: Target
    private(set) var descriptor: Int32
    private let tls: OpaquePointer
    private var state = State.connecting
    private var isDirty = false
    private var waitsForRoom = false
    /// The received part of an incomplete message.
    private var rest: [UInt8] = []
    private var output: [UInt8] = []
    private var outputStart = 0

    var isOpen: Bool { state == .open }

    /// Starts to connect to the target.
    init(_ loop: Loop, _ target: Target, number: Int, session: OpaquePointer? = nil) {
        self.loop = loop
        self.target = target
        descriptor = target.connect(fromAddress: number)
        guard let tls = SSL_new(target.context) else { fail("SSL_new") }
        self.tls = tls
        SSL_set_fd(tls, descriptor)
        SSL_set_connect_state(tls)
        if let session { SSL_set_session(tls, session) }
        loop.watch(self, for: EPOLLOUT, isNew: true)
    }

    deinit {
        close()
        SSL_free(tls)
    }

    /// Handles the end of the handshake.
    func opened() {}

    /// Processes the complete messages in the input, and returns their length in bytes.
    func consume(_ bytes: UnsafeRawBufferPointer) -> Int { bytes.count }

    /// Handles the end of the connection by the server, which fails unless a scenario expects it.
    func lost(_ reason: String) { fail("a connection ended: \(reason)") }

    /// Returns the ticket for the next handshake; the caller frees it.
    func takeSession() -> OpaquePointer? { SSL_get1_session(tls) }
    var wasResumed: Bool { SSL_session_reused(tls) == 1 }

    func write(_ bytes: UnsafeRawBufferPointer) {
        output.append(contentsOf: bytes)
        markDirty()
    }

    func write(_ bytes: [UInt8]) {
        output.append(contentsOf: bytes)
        markDirty()
    }

    func write(_ text: String) {
        output.append(contentsOf: text.utf8)
        markDirty()
    }

    private func markDirty() {
        guard !isDirty, state == .open else { return }
        isDirty = true
        loop.markDirty(self)
    }

    func close() {
        guard state != .closed else { return }
        state = .closed
        // Otherwise SSL_free marks the session as unusable for another handshake.
        SSL_set_shutdown(tls, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        _ = Glibc.close(descriptor)
    }

    func ready(_ events: UInt32) {
        switch state {
        case .connecting, .handshaking: performHandshakeStep()
        case .open:
            if events & EPOLLOUT.rawValue != 0 { flush() }
            if events & ~EPOLLOUT.rawValue != 0 { read() }
        case .closed: break
        }
    }

    private func performHandshakeStep() {
        ERR_clear_error()
        let code = SSL_do_handshake(tls)
        guard code != 1 else {
            state = .open
            loop.watch(self, for: EPOLLIN, isNew: false)
            opened()
            if !output.isEmpty { markDirty() }
            return
        }
        switch SSL_get_error(tls, code) {
        case SSL_ERROR_WANT_READ: loop.watch(self, for: EPOLLIN, isNew: false)
        case SSL_ERROR_WANT_WRITE: loop.watch(self, for: EPOLLOUT, isNew: false)
        default: ended("TLS handshake: \(errorText())")
        }
        state = state == .closed ? .closed : .handshaking
    }

    private func read() {
        while state == .open {
            ERR_clear_error()
            let count = SSL_read(tls, loop.buffer.baseAddress, Int32(loop.buffer.count))
            guard count > 0 else {
                let code = SSL_get_error(tls, count)
                if code != SSL_ERROR_WANT_READ { ended(code == SSL_ERROR_ZERO_RETURN ? "closed" : errorText()) }
                return
            }
            take(UnsafeRawBufferPointer(rebasing: loop.buffer[..<Int(count)]))
            // A short record is nearly always the last one; epoll reports the exceptions.
            if count < 16_000, SSL_has_pending(tls) == 0 { return }
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard !rest.isEmpty else {
            let used = consume(bytes)
            if used < bytes.count { rest.append(contentsOf: bytes[used...]) }
            return
        }
        rest.append(contentsOf: bytes)
        let whole = rest
        let used = whole.withUnsafeBytes { consume($0) }
        rest = used == whole.count ? [] : Array(whole[used...])
    }

    func flush() {
        isDirty = false
        guard state == .open else { return }
        while outputStart < output.count {
            ERR_clear_error()
            let count = output.withUnsafeBytes { bytes in
                SSL_write(tls, bytes.baseAddress.map { $0 + outputStart }, Int32(bytes.count - outputStart))
            }
            guard count > 0 else {
                guard SSL_get_error(tls, count) == SSL_ERROR_WANT_WRITE else { return ended(errorText()) }
                if !waitsForRoom {
                    loop.watch(self, for: EPOLL_EVENTS(EPOLLIN.rawValue | EPOLLOUT.rawValue), isNew: false)
                }
                waitsForRoom = true
                return
            }
            outputStart += Int(count)
        }
        output.removeAll(keepingCapacity: output.count > 1024)
        outputStart = 0
        if waitsForRoom { loop.watch(self, for: EPOLLIN, isNew: false) }
        waitsForRoom = false
    }

    private func ended(_ reason: String) {
        close()
        lost(reason)
    }

    private func errorText() -> String {
        let code = ERR_get_error()
        guard code != 0 else { return "errno \(errno)" }
        return ERR_reason_error_string(code).map { String(cString: $0) } ?? "OpenSSL \(code)"
    }
}
