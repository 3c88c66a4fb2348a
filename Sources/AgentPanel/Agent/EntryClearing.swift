// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import PanelToolkit
internal import PushDBus

/// Removes many entries from the inbox in batches, so that the user can stop it.
final class EntryClearing {
    struct Progress: Equatable {
        var doneCount: Int
        var count: Int
    }

    private static let callCount = 100
    private static let pauseMilliseconds: UInt32 = 300
    /// The progress is shown only after this time, because short operations need none.
    private static let silenceMilliseconds: UInt32 = 1000
    private let cache: AgentStateCache
    private let onProgress: (Progress?) -> Void
    private let onFailure: (BusError) -> Void
    private var waiting: [Int64] = []
    private var count = 0
    private var isBusy = false
    private var isTold = false
    private var timer: MainLoop.Source?

    /// Creates an idle object.
    ///
    /// - Parameters:
    ///   - cache: The state, with the connection to the agent.
    ///   - onProgress: Called with the progress of a long operation, and with nil at its end.
    ///   - onFailure: Called with the error that stopped the operation.
    init(
        _ cache: AgentStateCache, onProgress: @escaping (Progress?) -> Void, onFailure: @escaping (BusError) -> Void
    ) {
        self.cache = cache
        self.onProgress = onProgress
        self.onFailure = onFailure
    }

    /// Adds entries to those that are being removed.
    func clear(_ entries: [Int64]) {
        waiting += entries
        count += entries.count
        if timer == nil, !isTold {
            timer = MainLoop.after(milliseconds: Self.silenceMilliseconds) { [weak self] in self?.beginTelling() }
        }
        reportProgress()
        if !isBusy { clearNext() }
    }

    /// Stops; the remaining entries stay in the inbox.
    func stop() {
        waiting = []
        end()
    }

    private func clearNext() {
        let entries = waiting.suffix(Self.callCount)
        guard let agent = cache.agent, !entries.isEmpty else { return stop() }
        isBusy = true
        agent.call(.removeInboxEntries, [.array("x", entries.map(BusValue.int64))]) { [weak self] answer in
            guard let self else { return }
            isBusy = false
            switch answer {
            case .success: finish(Set(entries))
            case .failure(let error) where error.agentCode == .limitsExceeded: return pause()
            case .failure(let error):
                waiting = []
                onFailure(error)
            }
            clearNext()
        }
    }

    /// Removes a finished batch from the list, which is empty if the user has stopped the operation.
    private func finish(_ entries: Set<Int64>) {
        guard !waiting.isEmpty else { return }
        waiting.removeAll(where: entries.contains)
        reportProgress()
    }

    private func pause() {
        isBusy = true
        MainLoop.after(milliseconds: Self.pauseMilliseconds) { [weak self] in self?.clearNext() }
    }

    // MARK: Progress

    private func beginTelling() {
        timer = nil
        isTold = true
        reportProgress()
    }

    private func reportProgress() {
        if isTold { onProgress(Progress(doneCount: count - waiting.count, count: count)) }
    }

    private func end() {
        timer?.cancel()
        timer = nil
        isTold = false
        count = 0
        onProgress(nil)
    }
}
