// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// Room and memory: what a connection gives up for others.
extension ServerConnection {
    /// Ends a connection whose credential did not come in time, behind the answers to its open requests.
    func endUnproven() {
        guard drain == .none, let session else { return }
        (drain, drainReason) = (.waiting, .idleTimeout)
        if session.openExchangeCount == 0 { finishShutdown(session, reason: .idleTimeout) }
    }

    /// Whether the loop waits for this stranger, and not it for the loop or the store.
    var keepsLoopWaiting: Bool {
        guard !awaitsHandshake else { return false }
        guard isServing, let session else { return true }
        return !session.openExchanges.contains { $0.isComplete && !$0.isAnswered }
    }

    /// Closes a stranger at once to make room for others; GOAWAY goes out if the socket takes it.
    func makeRoom() {
        if let session, isServing, drain != .closing {
            drain = .closing
            session.finishShutdown(debugData: ProviderAnswer.body(.idleTimeout))
            flush()
        }
        close("made room for other connections")
    }

    // MARK: Memory

    /// Reports what the connection holds for its peer; over a budget it takes no streams and no input.
    func reportMemory(_ session: any HTTPSession) {
        guard isServing, principal != .administrator else { return }
        let byteCount = session.retainedByteCount + early.count + pending.count
        let reported = memory.reportedByteCount
        guard memory.report(byteCount, of: principal, to: loop.context.memory) else { return }
        setRetainedByteCountMax()
        if memory.reportedByteCount > reported { loop.memoryGrew() }
    }

    /// Sets what the session may hold: over a budget no more than now, so that it accepts no stream.
    func setRetainedByteCountMax() {
        guard let session else { return }
        let limit =
            switch principal {
            case .stranger: Limits.retainedByteCountOfStrangerMax
            case .device, .provider: Limits.retainedByteCountMax
            case .administrator: Int.max / 4
            }
        session.retainedByteCountMax =
            memory.isHeldBack ? max(Limits.outputByteCountHigh, session.retainedByteCount) : limit
    }

    func retryHeldBack(_ session: any HTTPSession) {
        reportMemory(session)
        // The flush watches for input again.
        if !memory.isHeldBack { loop.markDirty(self) }
    }
}
