// SPDX-License-Identifier: Apache-2.0

package import PushNet
package import PushSound

/// Brings what the sound server says to the agent's thread.
package final class SoundStateWatch {
    /// A sound server that is gone is looked for no more often: libpulse reads files and directories each time.
    package static let lookInterval: Duration = .seconds(5)

    /// What it said last.
    private(set) var state = SoundState()
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
            if let last = batch.last { self?.state = last }
        }
    }

    /// What speaks against a sound now; looks again for a sound server that was gone.
    package func current() -> SoundState {
        let now = loop.monotonicNanoseconds
        if lookedNanoseconds.map({ Duration.nanoseconds(Int64(clamping: now - $0)) >= Self.lookInterval }) ?? true {
            lookedNanoseconds = now
            watch.ensureConnected()
        }
        return state
    }
}
