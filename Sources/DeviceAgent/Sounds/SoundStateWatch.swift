// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushSound

/// Brings what the sound server says to the agent's thread.
package final class SoundStateWatch {
    /// A sound server that is gone is looked for no more often: libpulse reads files and directories each time.
    package static let lookInterval: Duration = .seconds(5)

    /// A sound server that takes longer to say something is not waited for.
    package static let patience: Duration = .milliseconds(500)

    /// What it said last.
    private(set) var state = SoundState()
    /// It was asked, and nobody has said anything yet.
    private var isAwaited = true
    /// Who wants to hear when it has, or does not for too long.
    private var waiting: (() -> Void)?
    private var timer: TimerID?
    private let watch: SoundWatch
    private let loop: EventLoop
    private var lookedNanoseconds: UInt64?

    /// Begins to watch; knows nothing at first.
    ///
    /// - Parameter loop: Whose thread the agent is on.
    /// - Throws: `NetError` when the system is out of descriptors.
    package init(loop: EventLoop) throws(NetError) {
        let states = try Mailbox<SoundState>()
        watch = SoundWatch { states.post($0) }
        self.loop = loop
        try loop.attach(states) { [weak self] batch in
            guard let self, let last = batch.last else { return }
            state = last
            endWaiting()
        }
    }

    deinit { if let timer { loop.cancel(timer) } }

    /// Whether it is known what speaks against a sound, or nobody is there who knows; looks again for a sound server.
    ///
    /// - Parameter body: Called once where it is not: when it is, or when the answer takes too long. One waits at a time.
    /// - Returns: Whether it is.
    package func isKnown(orCall body: @escaping () -> Void) -> Bool {
        _ = current()
        guard isAwaited else { return true }
        waiting = body
        timer = timer ?? loop.schedule(after: Self.patience) { [weak self] in self?.endWaiting() }
        return false
    }

    private func endWaiting() {
        isAwaited = false
        if let timer { loop.cancel(timer) }
        timer = nil
        let body = waiting
        waiting = nil
        body?()
    }

    /// What speaks against a sound now; looks again for a sound server that was gone.
    package func current() -> SoundState {
        let now = loop.monotonicNanoseconds
        let isDue = lookedNanoseconds.map { .nanoseconds(Int64(clamping: now - $0)) >= Self.lookInterval } ?? true
        // Where a connection stands, the next loss of it is to be noticed at once.
        if isDue, watch.ensureConnected() { (lookedNanoseconds, isAwaited) = (now, true) }
        return state
    }
}
