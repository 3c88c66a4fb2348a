// SPDX-License-Identifier: Apache-2.0

package import PushNet
internal import PushSound

/// Brings what the sound server says to the agent's thread.
package final class SoundStateWatch {
    /// What it said last.
    private(set) var state = SoundState()
    private let watch: SoundWatch

    /// Begins to watch; knows nothing at first.
    ///
    /// - Parameter loop: Whose thread the agent is on.
    /// - Throws: `NetError` when the system is out of descriptors.
    package init(loop: EventLoop) throws(NetError) {
        let states = try Mailbox<SoundState>()
        watch = SoundWatch { states.post($0) }
        try loop.attach(states) { [weak self] batch in
            if let last = batch.last { self?.state = last }
        }
    }

    /// What speaks against a sound now; connects again where the sound server was gone.
    func current() -> SoundState {
        watch.ensureConnected()
        return state
    }
}
