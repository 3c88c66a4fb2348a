// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// Closing and limiting connections in favor of others.
extension ServerConnection {
    /// Closes a connection whose credential did not arrive in time, after the answers to its open requests.
    func endUnproven() {
        guard drain == .none, let session else { return }
        (drain, drainReason) = (.waiting, .idleTimeout)
        if session.openExchangeCount == 0 { finishShutdown(session, reason: .idleTimeout) }
    }

    /// Whether the loop waits for this stranger, rather than the stranger for the loop or the store.
    var keepsLoopWaiting: Bool {
        guard !awaitsHandshake else { return false }
        guard isServing, let http else { return true }
        return !http.openExchanges.contains { $0.isComplete && !$0.isAnswered }
    }

    /// Closes a stranger immediately to make space for others; sends GOAWAY if the socket accepts it.
    func makeRoom() {
        if let session, isServing, drain != .closing {
            drain = .closing
            session.finishShutdown(debugData: ProviderAnswer.body(.idleTimeout))
            flush()
        }
        close("made room for other connections")
    }

    // MARK: Memory

    /// Reports the memory held for the peer; over a budget, the connection accepts no streams and no input.
    func reportMemory(_ session: any ConnectionSession) {
        guard isServing, principal != .administrator else { return }
        let byteCount = session.retainedByteCount + early.count + pending.bytes.count
        let reported = memory.reportedByteCount
        guard memory.report(byteCount, of: principal, to: loop.context.memory) else { return }
        setRetainedByteCountMax()
        if memory.reportedByteCount > reported { loop.memoryGrew() }
    }

    /// Sets the session's memory limit; over a budget, it is the current size, so that no stream is accepted.
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

    func retryHeldBack(_ session: any ConnectionSession) {
        reportMemory(session)
        // The flush resumes watching for input.
        if !memory.isHeldBack { loop.markDirty(self) }
    }
}
