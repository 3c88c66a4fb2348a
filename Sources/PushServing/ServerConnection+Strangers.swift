// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// Closes and limits connections in favor of others.
extension ServerConnection {
    /// Closes a connection whose credential did not arrive in time, after the answers to its open requests.
    func endUnproven() {
        guard let session, state.wait(because: .idle) else { return }
        if session.openExchangeCount == 0 { finish(because: .idle) }
    }

    /// Whether the loop waits for this stranger, rather than the stranger for the loop or the store.
    var keepsLoopWaiting: Bool {
        guard !handshakeTurn.isQueued else { return false }
        guard state.isServing, let http else { return true }
        return !http.openExchanges.contains { $0.isComplete && !$0.isAnswered }
    }

    /// Closes the connection immediately to free capacity for others; sends GOAWAY if the socket accepts it.
    func makeRoom() {
        if state.isServing, state.isStaying || state.isWaiting {
            finish(because: .idle)
            flush()
        }
        close("closed to free capacity for others")
    }

    // MARK: Memory

    /// Reports the memory held for the peer; over its limit, the connection accepts no streams and no input.
    func reportMemory() {
        guard listener.kind.isNetwork, !state.isEnding else { return }
        let reported = memory.reportedByteCount
        guard memory.report(heldByteCount, of: principal, to: loop.memory) else { return }
        if memory.isPaused, let session {
            session.dropSpares()
            _ = memory.report(heldByteCount, of: principal, to: loop.memory)
        }
        setRetainedByteCountMax()
        if memory.reportedByteCount > reported { loop.memoryGrew() }
    }

    /// The number of bytes that the connection holds for its peer beyond an idle connection.
    ///
    /// A stranger can open many connections. So for a stranger, memory counts too that a connection allocates only
    /// once: the session of nghttp2, and the buffer for a TLS record.
    private var heldByteCount: Int {
        if handshake != nil { return hasBegunHandshake ? Limits.handshakeByteCount : 0 }
        let byteCount = (session?.retainedByteCount ?? 0) + early.bytes.count + socket.pending.bytes.count
        guard isStranger else { return byteCount }
        return byteCount + (session?.libraryByteCount ?? 0) + socket.transport.partialRecordByteCount
    }

    /// Authenticates a provider by the header fields of an unanswered request; returns whether its credential is valid.
    func recognizePeer() -> Bool {
        guard let exchange = http?.openExchanges.first(where: { !$0.isAnswered }) else { return false }
        listener.endpoint.recognize(exchange, on: self)
        return !isStranger
    }

    /// Sets the session's memory limit; while the connection is paused, the current size, so no stream is accepted.
    func setRetainedByteCountMax() {
        guard let session else { return }
        session.retainedByteCountMax =
            memory.isPaused
            ? max(Limits.outputByteCountHigh, session.retainedByteCount) : principal.retainedByteCountMax
    }
}

extension Principal {
    /// The maximum number of bytes that a session may hold for this peer.
    fileprivate var retainedByteCountMax: Int {
        switch self {
        case .stranger, .monitor: Limits.retainedByteCountOfStrangerMax
        case .device, .provider, .node: Limits.retainedByteCountMax
        case .administrator: Int.max / 4
        }
    }
}
