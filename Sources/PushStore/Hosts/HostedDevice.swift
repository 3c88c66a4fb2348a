// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// A device whose live queue a loop holds.
final class HostedDevice {
    private(set) var queue: HeldQueue
    /// The notifications to deliver at the end of the turn, in order.
    var outgoing: [PendingNotification] = []
    /// A sent notification and its send time, to measure how long its acknowledgement takes.
    private var probe: (sequence: Int64, moment: MonotonicTime)?
    /// The collapse IDs of acknowledged notifications whose rows the store deletes.
    private var deleted: [(topic: TopicID, collapse: CollapseHash)] = []

    init(_ queue: HeldQueue) { self.queue = queue }

    var device: DeviceID { queue.device }

    /// Returns the registration of an app, live or ended.
    func registration(of topic: TopicID) -> RegistrationState? {
        for registration in queue.registrations where registration.topic == topic { return registration.row }
        return nil
    }

    /// Whether another notification can be sent.
    var hasSpace: Bool { queue.inFlight.count < Limits.unacknowledgedCountMax }

    /// Returns whether a notification may replace one that is in flight, or one whose row may still exist.
    func mayReplace(_ topic: TopicID, _ collapse: CollapseHash) -> Bool {
        guard collapse != CollapseHash() else { return false }
        return queue.inFlight.contains { $0.topic == topic && $0.collapse == collapse }
            || deleted.contains { $0.topic == topic && $0.collapse == collapse }
            || deleted.count >= Limits.unacknowledgedCountMax
    }

    // MARK: Sending

    /// Sends a notification that is accepted when the device acknowledges it, or when the store has written it.
    func send(
        _ pending: PendingNotification, _ collapse: CollapseHash, answer: ReplyAddress, at moment: MonotonicTime
    ) {
        if probe == nil { probe = (pending.sequence, moment) }
        outgoing.append(pending)
        noteSent(
            HeldQueue.InFlight(
                sequence: pending.sequence, topic: pending.notification.address.topic, collapse: collapse,
                state: .unwritten(pending.notification, answer: answer)))
    }

    /// Sends a now-or-never notification.
    func sendNow(_ pending: PendingNotification) {
        outgoing.append(pending)
        let topic = pending.notification.address.topic
        noteSent(HeldQueue.InFlight(sequence: pending.sequence, topic: topic, state: .nowOrNever))
    }

    /// Records that a broadcast is sent.
    func noteSent(_ broadcast: HostBroadcast) {
        let (sequence, topic) = (broadcast.pending.sequence, broadcast.pending.notification.address.topic)
        noteSent(
            HeldQueue.InFlight(sequence: sequence, topic: topic, state: .broadcast(isStored: broadcast.isStored)))
    }

    private func noteSent(_ entry: HeldQueue.InFlight) {
        queue.inFlight.append(entry)
        queue.lastSent = max(queue.lastSent, entry.sequence)
    }

    // MARK: Acknowledgement

    /// Removes an acknowledged notification; returns nil if it is not in flight.
    func acknowledge(
        _ sequence: Int64, at moment: MonotonicTime, measuredBy histogram: DurationHistogram
    ) -> HeldQueue.InFlight? {
        guard let index = queue.inFlight.firstIndex(where: { $0.sequence == sequence }) else { return nil }
        if let probe, probe.sequence <= sequence {
            queue.acknowledgementMilliseconds = moment.milliseconds(since: probe.moment)
            histogram.observe(nanoseconds: moment.nanoseconds(since: probe.moment))
            self.probe = nil
        }
        let entry = queue.inFlight.remove(at: index)
        if case .stored = entry.state, entry.collapse != CollapseHash() {
            deleted.append((entry.topic, entry.collapse))
        }
        return entry
    }

    /// Marks a notification as stored; returns it with its address, or nil if it is not unwritten.
    func store(_ sequence: Int64) -> (pending: PendingNotification, answer: ReplyAddress)? {
        guard let index = queue.inFlight.firstIndex(where: { $0.sequence == sequence }),
            case .unwritten(let notification, let answer) = queue.inFlight[index].state
        else { return nil }
        queue.inFlight[index].state = .stored
        return (PendingNotification(sequence: sequence, notification: notification), answer)
    }

    /// Forgets the notifications in flight, after the queue was returned.
    func forgetInFlight() { queue.inFlight = [] }

    /// Expects no acknowledgement in time until the next one arrives.
    func noteSlow() { queue.acknowledgementMilliseconds = .max }
}
