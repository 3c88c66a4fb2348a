// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// The notifications that were sent to connected devices, and the outcomes that these reported.
///
/// Each stream has the history of its device. A worker adds changed histories to the rows that all nodes share: a minute
/// after a change, and when a stream ends.
extension Host {
    // MARK: Sending

    /// Records that a notification is sent; a device that reconnects often does not fill the trace.
    func noteSent(_ pending: PendingNotification, _ state: HostedStream.Sent.State, on stream: HostedStream) {
        let (topic, isBroadcast) = (
            pending.notification.address.topic, pending.notification.channel != nil
        )
        let sending = stream.history.noteSent(pending.sequence, topic, isBroadcast: isBroadcast)
        noteChange(stream.history)
        trim(stream.history)
        guard let trace = context.trace, sending != .further else { return }
        if case .written = state, sending == .first { context.traceAgain(pending) }
        trace.record(.sent, of: pending.sequence, topic, on: stream.device, at: context.traceTime)
    }

    private func noteChange(_ history: DeliveryHistory) {
        guard history.changedSince == nil else { return }
        history.changedSince = context.moment
        changedHistories.append(history)
    }

    /// Removes the oldest entries of a history that exceeds its bound by a quarter, so that few calls pay for it.
    private func trim(_ history: DeliveryHistory) {
        let countMax = context.configuration.historyEntryCountMax
        guard history.entries.count > countMax + countMax / 4 else { return }
        let teams = context.teams
        _ = history.trim(to: countMax) { teams[$0] ?? -1 }
    }

    // MARK: Acknowledgements

    /// Counts the acknowledgement and the outcome of a notification in the window of a stream.
    func count(_ acknowledgement: DeviceAPI.Acknowledgement, of sent: HostedStream.Sent, on stream: HostedStream) {
        context.counters.note(.acknowledged)
        context.trace?.record(.acknowledged, of: sent.id, sent.topic, on: stream.device, at: context.traceTime)
        if stream.history.index(of: sent.id) == nil {
            // The history was too long, and lost it.
            _ = stream.history.noteSent(sent.id, sent.topic, isBroadcast: false)
        }
        _ = report(acknowledgement, on: stream)
    }

    /// Takes the acknowledgement of a notification that is not in the window of a stream.
    ///
    /// An acknowledgement of a number that was not sent to the device is ignored, and costs no statement. So is an
    /// outcome that was reported before.
    func acknowledgeLate(_ acknowledgement: DeviceAPI.Acknowledgement, on stream: HostedStream) {
        guard let index = stream.history.index(of: acknowledgement.id) else {
            return askForHistory(acknowledgement, on: stream)
        }
        let entry = stream.history.entries[index]
        let isEnd = !entry.marks.contains(.acknowledged)
        if isEnd {
            // A row may wait that an earlier stream has sent.
            shard(stream.device).acknowledge(.init(device: stream.device, id: acknowledgement.id))
            context.counters.note(.acknowledged)
            context.trace?.record(
                .acknowledged, of: entry.sequence, entry.topic, on: stream.device, at: context.traceTime)
        }
        if !report(acknowledgement, on: stream), !isEnd { context.counters.noteIgnored() }
    }

    /// Marks an outcome in the history of a stream; returns whether it is reported for the first time.
    private func report(_ acknowledgement: DeviceAPI.Acknowledgement, on stream: HostedStream) -> Bool {
        let history = stream.history
        guard let index = history.index(of: acknowledgement.id) else { return false }
        let (entry, mark) = (history.entries[index], DeliveryHistory.Marks(acknowledgement.outcome))
        let isFirstTime = !entry.marks.contains(mark)
        guard isFirstTime || !entry.marks.contains(.acknowledged) else { return false }
        history.mark(index, [mark, .acknowledged])
        noteChange(history)
        guard isFirstTime else { return false }
        context.counters.note(acknowledgement.outcome)
        context.trace?.record(acknowledgement, entry.topic, by: stream.device, at: context.traceTime)
        return true
    }

    /// Reads the history once more for the first unknown number of a stream, because the host before may have written
    /// it since; ignores further ones.
    private func askForHistory(_ acknowledgement: DeviceAPI.Acknowledgement, on stream: HostedStream) {
        if !stream.hasAskedAgain, acknowledgement.id > 0 {
            stream.hasAskedAgain = true
            stream.undecided = [acknowledgement]
            stream.needsAccount = true
            mark(stream)
        } else if !stream.undecided.isEmpty, stream.undecided.count < Limits.acknowledgementBatchCountMax {
            stream.undecided.append(acknowledgement)
        } else {
            context.counters.noteIgnored()
        }
    }

    // MARK: The row of the device

    /// Takes the stored history of a device, with what it acknowledged at other nodes.
    func takeHistory(_ stored: [DeliveryHistory.Entry], _ stream: HostedStream) {
        for entry in stored where entry.marks.contains(.acknowledged) {
            guard let sent = stream.acknowledge(entry.sequence, at: context.moment) else { continue }
            complete(sent, of: stream.device)
            if let index = stream.history.index(of: entry.sequence) { stream.history.mark(index, .acknowledged) }
        }
        stream.history.load(stored)
        trim(stream.history)
        let undecided = stream.undecided
        stream.undecided = []
        for acknowledgement in undecided { acknowledgeLate(acknowledgement, on: stream) }
    }

    /// Hands the history of an ended stream to the worker.
    func closeHistory(of stream: HostedStream) {
        guard stream.history.changedSince != nil, closedHistories.count < ClusterLimits.unwrittenHistoryCountMax
        else { return }
        stream.history.changedSince = nil
        closedHistories.append(stream.history.copy)
    }

    /// Removes and returns the changed histories that are due.
    ///
    /// - Parameter isLast: Whether all are due, because the node ends.
    /// - Returns: The histories.
    func takeHistories(isLast: Bool) -> [DeliveryHistory.Copy] {
        var copies = closedHistories
        closedHistories = []
        let before = context.moment.advanced(byMilliseconds: -ClusterLimits.historyDelayMilliseconds)
        while let first = changedHistories.first, isLast || first.changedSince.map({ $0 <= before }) ?? true {
            _ = changedHistories.popFirst()
            guard first.changedSince != nil else { continue }
            first.changedSince = nil
            copies.append(first.copy)
        }
        return copies
    }
}
