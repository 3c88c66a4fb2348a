// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet

/// The end of a connection: shutdown, goodbye, linger, close.
extension ServerConnection {
    func carryOut(_ action: ConnectionStateMachine.Action) {
        switch action {
        case .none: break
        case .close: close(nil)
        case .linger: linger()
        case .finish(let reason): finish(because: reason)
        case .announceLater: announceShutdownSoon()
        }
    }

    /// Lets open exchanges finish, then closes the connection; announces the shutdown to a busy peer after a while.
    func beginShutdown() {
        let isNew = handshakeTurn.isQueued || !loop.hasPassed(Limits.drainTimeout, since: beganAt)
        carryOut(state.beginShutdown(openExchangeCount: session?.openExchangeCount ?? 0, isNew: isNew))
    }

    /// Closes the connection of a peer that exceeded a limit: after the answers to its open requests, at the latest
    /// after `Limits.drainTimeout`.
    package func endAfterAnswers(because reason: GoodbyeReason) {
        guard state.condemn(because: reason) else { return }
        loop.markDirty(self)
        // New requests could keep the connection open. The answers to earlier ones have been sent by then.
        loop.events.schedule(after: Limits.drainTimeout) { [weak self] in
            guard let self, state.isWaiting else { return }
            finish(because: reason)
        }
    }

    /// Asks a peer that keeps sending to stop, and ends a new connection on which no request arrives.
    ///
    /// Many clients treat GOAWAY as the end, so other peers are told only after their open requests are answered.
    private func announceShutdownSoon() {
        loop.events.schedule(after: Limits.drainTimeout) { [weak self] in
            guard let self else { return }
            if state.isAwaitingRequest { return session == nil ? close("shutdown") : finish(because: .shutdown) }
            guard let http, case .waiting(_, let isBusy) = state.drain else { return }
            guard isBusy else { return announceShutdownSoon() }
            http.announceShutdown(debugData: endpoint.goodbye(.shutdown))
            loop.markDirty(self)
        }
    }

    /// Says goodbye on the session; the connection closes when the output is sent.
    func finish(because reason: GoodbyeReason) {
        state.sayGoodbye()
        session?.finishShutdown(debugData: endpoint.goodbye(reason))
        loop.markDirty(self)
    }

    /// Closes our side, and waits a short time for the peer to close its own.
    private func linger() {
        state.linger()
        closeSession()
        memory.release(to: loop.memory)
        deadlines.lingers(now: loop.events.now)
        socket.transport.close()
        do throws(NetError) { try Sockets.closeOutput(socket.rawValue) } catch { return close(nil) }
        watch(.readable)
    }

    /// Closes the connection immediately; open exchanges end unanswered.
    package func close(_ reason: String?) {
        let isOpen = !state.isLingering
        guard state.close() else { return }
        if let reason { loop.context.log.closed(self, reason: reason) }
        closeSession()
        socket.deregister(from: loop.events)
        if isOpen { socket.transport.close() }
        // The context stays: a session that is closed in a callback can still report a request.
        loop.handshakeEnded(self)
        handshake = nil
        memory.release(to: loop.memory)
        loop.remove(self)
    }
}
