// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet

/// The once-a-second check of a connection's deadlines.
extension ServerConnection {
    /// Answers late requests and closes slow connections, once a second.
    func tick() {
        // The handshake waits for its turn on this loop, so the peer is not late.
        guard !handshakeTurn.isQueued else { return }
        retryStalledHandshake()
        if state.isServing {
            if let http { answerLate(http) }
            if memory.isPaused {
                reportMemory()
                // The flush resumes watching for input.
                if !memory.isPaused { loop.markDirty(self) }
            }
        }
        guard !state.isClosed else { return }
        switch deadlines.verdict(
            now: loop.events.now, isServing: state.isServing || state.isEnding,
            openExchangeCount: session?.openExchangeCount ?? 0,
            authenticationTimeout: principal.timeout(loop.strangerLimits))
        {
        case .fine: if isQuiet { loop.excludeFromTicks(self) }
        case .idle:
            guard session != nil, state.isStaying else { return close("idle") }
            finish(because: .idle)
        case .unproven: endUnproven()
        case .tooSlow(let what): close(what)
        }
    }

    /// Answers each request that is still incomplete, or that the store has not answered, after its deadline.
    ///
    /// The connection closes if an incomplete request was its only open exchange.
    ///
    /// - Parameter session: The connection's session.
    private func answerLate(_ session: any HTTPSession) {
        session.now = loop.events.now
        session.tick()
        if session.hasOutput { loop.markDirty(self) }
        for exchange in session.openExchanges {
            let age = session.age(since: exchange.isAnswered ? exchange.tookAt : exchange.beganAt)
            if exchange.waitsForPeer, !exchange.isStreaming { exchange.forgetRequest() }
            if exchange.waitsForPeer, age > Limits.outputTimeout {
                // The peer keeps its window closed. Notifications that a device does not receive stay pending.
                exchange.abandon()
                loop.markDirty(self)
            }
            guard !exchange.isAnswered, age > (exchange.isComplete ? Limits.responseTimeout : Limits.requestTimeout)
            else { continue }
            exchange.context = nil
            listener.endpoint.answerTimedOut(exchange)
            deadlines.requestEnded()
            loop.markDirty(self)
            // GOAWAY follows the answer, because clients ignore everything after GOAWAY.
            guard !exchange.isComplete, session.openExchangeCount == 1 else { continue }
            _ = state.wait(because: .idle)
        }
    }
}

extension Principal {
    /// Returns the time that a connection may stay open without a credential; nil with one and for an administrator.
    fileprivate func timeout(_ limits: StrangerLimits) -> Duration? {
        switch self {
        case .stranger: limits.authenticationTimeout
        case .monitor: Limits.metricsConnectionTimeout
        case .device, .provider, .node, .administrator: nil
        }
    }
}
