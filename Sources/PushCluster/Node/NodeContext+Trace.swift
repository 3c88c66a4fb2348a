// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushStore

extension NodeContext {
    /// Returns the time of an event by the clock of the shard, so that the events of all nodes can be compared.
    ///
    /// The node estimates that clock, and a later estimate may be lower. The returned times do not decrease, unless the
    /// clock itself was set.
    func nextTraceTime() -> Timestamp {
        let time = ids.clock.isKnown ? Timestamp(unixMilliseconds: ids.clock.latest(at: moment) / 1_000) : now
        let isSet = lastTraceTime.unixMilliseconds - time.unixMilliseconds > ClusterLimits.traceTimeMilliseconds
        lastTraceTime = isSet ? time : max(lastTraceTime, time)
        return lastTraceTime
    }

    /// Records that a notification was accepted, unless this node has recorded it.
    func traceAccepted(_ waiting: WaitingNotification) {
        guard let trace, !waiting.isTraced else { return }
        waiting.isTraced = true
        let time = acceptance(of: waiting.pending)
        lastTraceTime = max(lastTraceTime, time)
        // The node to which it was pushed records it too, if it is alive.
        trace.recordAccepted(waiting.pending, isAgain: waiting.wasPushed, at: time)
    }

    /// Records that a notification was accepted, and another event of it.
    func trace(_ step: TraceStep, _ detail: TraceDetail = .none, of waiting: WaitingNotification) {
        guard let trace else { return }
        traceAccepted(waiting)
        trace.record(step, detail, of: waiting.pending, at: nextTraceTime())
    }

    /// Records that notifications with the same key were written as one row.
    func traceWritten(_ group: [WaitingNotification]) {
        guard let trace else { return }
        let last = group.map(\.pending.sequence).max()
        for waiting in group where waiting.writtenAt == nil {
            traceAccepted(waiting)
            guard !waiting.isAcknowledged else { continue }
            let step: TraceStep = waiting.pending.sequence == last ? .stored : .replaced
            trace.record(step, of: waiting.pending, at: nextTraceTime())
        }
    }

    /// Records again that a notification was accepted, if the node that accepted it no longer runs.
    ///
    /// That node may have been killed before it wrote its events.
    func traceAgain(_ pending: PendingNotification) {
        guard let trace, !isOfLiveInstance(pending.sequence) else { return }
        trace.recordAccepted(pending, isAgain: true, at: pending.notification.acceptedAt)
    }

    /// The time in the number of a notification, which is that of its acceptance by the clock of the shard.
    private func acceptance(of pending: PendingNotification) -> Timestamp {
        Timestamp(unixMilliseconds: NotificationIDLayout.milliseconds(of: pending.sequence))
    }

    /// Returns whether the instance that made a number runs.
    private func isOfLiveInstance(_ id: Int64) -> Bool {
        if NotificationIDs.node(of: id) == instance.node { return id > instance.rawValue }
        return nodes[NotificationIDs.node(of: id)].map { $0.isLive && id > $0.instance.rawValue } ?? false
    }
}
