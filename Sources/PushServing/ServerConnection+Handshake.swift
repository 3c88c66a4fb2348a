// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushTLS

/// The TLS handshake, whose steps the loop's queue starts.
extension ServerConnection: HandshakeTaker {
    var hasBegunHandshake: Bool { handshake?.hasBegun ?? true }

    var handshakeTurn: HandshakeTurn {
        get { handshake?.turn ?? HandshakeTurn() }
        set { handshake?.turn = newValue }
    }

    func pauseHandshake() {
        if handshake != nil { watch([]) }
    }

    /// Queues the next step of the handshake, unless the ClientHello is incomplete.
    func prepare(_ handshake: ServerHandshake, _ readiness: Readiness) {
        guard !readiness.contains(.writable) else { return loop.queueHandshake(self) }
        do throws(ServingError) {
            let isReady = try unsafe handshake.hasInput(socket.rawValue, buffer: loop.readBuffer)
            if isReady { return loop.queueHandshake(self) }
            if handshake.isStalled { watch([]) }
        } catch {
            close(error.description)
        }
    }

    /// Continues the handshake at this connection's turn.
    func continueHandshake() {
        guard let handshake else { return }
        if !handshake.hasBegun { deadlines.handshakeBegins(now: loop.events.now) }
        loop.strangerProgressed(self)
        do throws(ServingError) { try performHandshakeStep(handshake) } catch { return close(error.description) }
        if state.isHandshaking { reportMemory() } else { takeInput() }
    }

    /// Watches the socket again, at most once a second, after an incomplete ClientHello.
    func retryStalledHandshake() {
        if handshake?.isStalled == true { watch(.readable) }
    }

    private func performHandshakeStep(_ handshake: ServerHandshake) throws(ServingError) {
        switch try unsafe handshake.step(socket.rawValue, buffer: loop.readBuffer) {
        case .wantsRead: return watch(.readable)
        case .wantsWrite: return watch(.writable)
        case .done: break
        }
        loop.handshakeEnded(self)
        watch(.readable)
        guard state.isHandshaking, let connection = handshake.connection else { return }
        handshakeIsDone(connection)
    }
}
