// SPDX-License-Identifier: Apache-2.0

internal import PushDBus

/// Removes many entries from the inbox, one after the other: the agent answers few calls of one caller at a time.
final class EntryClearing {
    private static let pauseMilliseconds: UInt32 = 300
    private let mirror: AgentMirror
    private let onFailure: (BusError) -> Void
    private var waiting: [Int64] = []
    private var isBusy = false

    /// Begins with nothing to do.
    init(_ mirror: AgentMirror, onFailure: @escaping (BusError) -> Void) {
        self.mirror = mirror
        self.onFailure = onFailure
    }

    /// Removes these, too.
    func clear(_ entries: [Int64]) {
        waiting += entries
        if !isBusy { clearNext() }
    }

    private func clearNext() {
        guard let agent = mirror.agent, let entry = waiting.last else { return }
        isBusy = true
        agent.call("RemoveInboxEntry", [.int64(entry)]) { [weak self] answer in
            guard let self else { return }
            isBusy = false
            switch answer {
            case .success: waiting.removeLast()
            case .failure(let error) where error.name.hasSuffix(".LimitsExceeded"): return pause()
            // Something else removed it.
            case .failure(let error) where error.name.hasSuffix(".UnknownEntry"): waiting.removeLast()
            case .failure(let error):
                waiting = []
                onFailure(error)
            }
            clearNext()
        }
    }

    private func pause() {
        isBusy = true
        MainLoop.after(milliseconds: Self.pauseMilliseconds) { [weak self] in self?.clearNext() }
    }
}
