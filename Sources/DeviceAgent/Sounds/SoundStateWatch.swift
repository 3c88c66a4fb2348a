// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushSound

/// Tracks the state of the sound server on the agent's thread.
final class SoundStateWatch {
    /// The minimum time between two searches for a lost sound server, because libpulse reads files and directories each
    /// time.
    static let lookInterval: Duration = .seconds(5)

    /// The maximum wait for an answer of the sound server.
    static let answerTimeout: Duration = .milliseconds(500)

    /// The last known state.
    private(set) var state = SoundState()
    /// Whether an answer of the sound server is outstanding.
    private var isAwaited = true
    /// The callback for the answer or the timeout.
    private var waiting: (() -> Void)?
    private var timer: TimerID?
    private let watch: SoundWatch
    private let loop: EventLoop
    private var lookedAt: MonotonicTime?

    /// Starts to watch, with an unknown state at first.
    ///
    /// - Parameter loop: The event loop of the agent's thread.
    /// - Throws: `NetError` if the system is out of descriptors.
    init(loop: EventLoop) throws(NetError) {
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

    /// Returns whether the state is known, or no sound server exists; searches for a lost sound server.
    ///
    /// - Parameter body: Called once if the result is false, after the answer or the timeout. Only one callback waits
    ///   at a time.
    /// - Returns: Whether the state is known, or cannot become known.
    func isKnown(orCall body: @escaping () -> Void) -> Bool {
        _ = current()
        guard isAwaited else { return true }
        waiting = body
        timer = timer ?? loop.schedule(after: Self.answerTimeout) { [weak self] in self?.endWaiting() }
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

    /// Returns the present state; searches for a lost sound server.
    func current() -> SoundState {
        let now = loop.now
        let isDue = lookedAt.map { now.duration(since: $0) >= Self.lookInterval } ?? true
        // While a connection exists, its loss must be noticed immediately.
        if isDue, watch.ensureConnected() { (lookedAt, isAwaited) = (now, true) }
        return state
    }
}
