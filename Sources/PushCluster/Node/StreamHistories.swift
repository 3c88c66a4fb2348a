// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// The notifications that were sent to connected devices, and the outcomes that these reported.
///
/// Each stream has the history of its device. A worker adds changed histories to the rows that all nodes share: a minute
/// after a change, and when a stream ends.
final class StreamHistories {
    private let context: NodeContext
    /// The changed histories in the order of their first change.
    private var changed = FIFOQueue<DeliveryHistory>()
    /// The changed histories of ended streams.
    private var closed: [DeliveryHistory.Copy] = []

    init(_ context: NodeContext) { self.context = context }

    // MARK: Sending

    /// Records that a notification is sent, in the trace at most twice, so that frequent reconnects do not fill it.
    func noteSent(_ pending: PendingNotification, _ state: HostedStream.Sent.State, on stream: HostedStream) {
        let (topic, isBroadcast) = (
            pending.notification.address.topic, pending.notification.channel != nil
        )
        let sending = stream.history.noteSent(pending.sequence, topic, isBroadcast: isBroadcast)
        noteChange(stream.history)
        trim(stream.history)
        guard let trace = context.trace, sending != .further else { return }
        if case .written = state, sending == .first { context.traceAgain(pending) }
        trace.record(.sent, of: pending.sequence, topic, on: stream.device, at: context.nextTraceTime())
    }

    private func noteChange(_ history: DeliveryHistory) {
        guard history.changedSince == nil else { return }
        history.changedSince = context.moment
        changed.append(history)
    }

    /// Removes the oldest entries of a history that exceeds its bound by a quarter, so that few calls remove entries.
    func trim(_ history: DeliveryHistory) {
        let countMax = context.configuration.historyEntryCountMax
        guard history.entries.count > countMax + countMax / 4 else { return }
        let teams = context.teams
        _ = history.trim(to: countMax) { teams[$0] ?? -1 }
    }

    // MARK: Outcomes

    /// Counts the acknowledgement and the outcome of a notification in the window of a stream.
    func count(_ acknowledgement: DeviceAPI.Acknowledgement, of sent: HostedStream.Sent, on stream: HostedStream) {
        if !sent.isBroadcast { context.counters.note(.acknowledged) }
        context.trace?.record(.acknowledged, of: sent.id, sent.topic, on: stream.device, at: context.nextTraceTime())
        if stream.history.index(of: sent.id) == nil {
            // The history was too long, so the entry was removed from it.
            _ = stream.history.noteSent(sent.id, sent.topic, isBroadcast: sent.isBroadcast)
        }
        _ = report(acknowledgement, on: stream)
    }

    /// Marks an outcome in the history of a stream; returns whether it is reported for the first time.
    func report(_ acknowledgement: DeviceAPI.Acknowledgement, on stream: HostedStream) -> Bool {
        let history = stream.history
        guard let index = history.index(of: acknowledgement.id) else { return false }
        let (entry, mark) = (history.entries[index], DeliveryHistory.Marks(acknowledgement.outcome))
        let isFirstTime = !entry.marks.contains(mark)
        guard isFirstTime || !entry.marks.contains(.acknowledged) else { return false }
        history.mark(index, [mark, .acknowledged])
        noteChange(history)
        guard isFirstTime else { return false }
        context.counters.note(acknowledgement.outcome)
        context.trace?.record(acknowledgement, entry.topic, by: stream.device, at: context.nextTraceTime())
        return true
    }

    // MARK: Writing

    /// Hands the history of an ended stream to the worker.
    func close(_ stream: HostedStream) {
        guard stream.history.changedSince != nil, closed.count < ClusterLimits.unwrittenHistoryCountMax
        else { return }
        stream.history.changedSince = nil
        closed.append(stream.history.copy)
    }

    /// Removes and returns the changed histories that are due.
    ///
    /// - Parameter isLast: Whether all are due, because the node ends.
    /// - Returns: The histories.
    func take(isLast: Bool) -> [DeliveryHistory.Copy] {
        var copies = closed
        closed = []
        let before = context.moment.advanced(byMilliseconds: -ClusterLimits.historyDelayMilliseconds)
        while let first = changed.first, isLast || first.changedSince.map({ $0 <= before }) ?? true {
            _ = changed.popFirst()
            guard first.changedSince != nil else { continue }
            first.changedSince = nil
            copies.append(first.copy)
        }
        return copies
    }
}
