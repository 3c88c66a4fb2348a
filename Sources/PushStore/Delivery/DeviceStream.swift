// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The open stream of one device: its sent and unacknowledged notifications, and whether more wait in the table.
///
/// Each notification up to `lastSent` was sent on this stream, has expired or was removed. While `hasBacklog` is true,
/// later rows wait in the table. While it is false and the window has capacity, new notifications are sent without
/// being read back from the table.
final class DeviceStream {
    /// A notification with expiration 0, which is delivered now or never, and which is not acknowledged.
    struct NowOrNever {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
        /// Whether this is one device's copy of a broadcast.
        ///
        /// All copies of a broadcast count as one notification.
        var isBroadcast: Bool
    }

    /// A notification that was sent on this stream and is not acknowledged.
    private struct InFlight {
        var sequence: Int64
        var topic: TopicID
        /// Whether the notification also waits in the device's queue.
        var isQueued: Bool
    }

    /// The result of offering a newly accepted notification to the stream.
    enum Offer {
        /// The notification stays in the table for now.
        case kept
        /// The notification is sent.
        ///
        /// The device will probably acknowledge it within this number of milliseconds.
        case sent(acknowledgedWithin: Int64)
    }

    let device: DeviceID
    /// The address that deliveries go to.
    let address: ReplyAddress
    /// The notifications to deliver next, in order.
    private(set) var outgoing: [PendingNotification] = []
    /// Whether the table holds notifications that were not sent; initially true, because none was sent.
    private(set) var hasBacklog = true
    /// The last sequence that was sent or skipped.
    private(set) var lastSent: Int64 = 0
    /// The latest measured time from sending to acknowledgement, in milliseconds.
    private var acknowledgementMilliseconds: Int64 = 0
    /// Whether the device saves power.
    ///
    /// Non-urgent notifications are then held back and sent in batches.
    private(set) var isSaving = false
    /// The time at which the held-back notifications are sent; nil if none is held back.
    private(set) var heldBackUntil: MonotonicTime?
    /// The notifications that are sent and not acknowledged, ascending by sequence.
    private var unacknowledged: [InFlight] = []
    /// The device's delivery history; nil until a notification is sent or acknowledged.
    ///
    /// It may be evicted.
    var history: DeliveryHistory?
    private var nowOrNever: [NowOrNever] = []
    /// Now-or-never notifications that wait until earlier rows are read from the table, in order.
    private var nowOrNeverBehindBacklog: [PendingNotification] = []
    /// A sent notification and its send time, to measure how long its acknowledgement takes.
    private var probe: (sequence: Int64, moment: MonotonicTime)?

    private let powerSavingDelayMilliseconds: Int64

    /// Creates the state of a newly opened stream.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - address: The address that deliveries go to.
    ///   - powerSavingDelayMilliseconds: The time for which non-urgent notifications are held back while the device
    ///     saves power.
    init(of device: DeviceID, address: ReplyAddress, powerSavingDelayMilliseconds: Int64) {
        self.device = device
        self.address = address
        self.powerSavingDelayMilliseconds = powerSavingDelayMilliseconds
    }

    /// The number of notifications that may be sent before the next acknowledgement.
    var space: Int { Limits.unacknowledgedCountMax - unacknowledged.count }

    /// Whether the stream needs a refill from the table now.
    var needsRefill: Bool { hasBacklog && space > 0 && heldBackUntil == nil }

    // MARK: Handing over

    /// Returns the live queue for a host; nil while anything waits or is held back, while something other than stored
    /// notifications is in flight, or while the window is more than half full.
    ///
    /// - Parameters:
    ///   - registrations: The registrations of the device.
    ///   - pendingCount: The number of notifications in the device's queue.
    ///   - collapse: Returns the hash of the collapse ID of a notification in the queue; nil for any other.
    /// - Returns: The queue without subscriptions.
    func held(
        _ registrations: [(topic: TopicID, row: RegistrationState)], pendingCount: Int,
        collapse: (Int64) -> CollapseHash?
    ) -> HeldQueue? {
        guard !hasBacklog, outgoing.isEmpty, nowOrNever.isEmpty, nowOrNeverBehindBacklog.isEmpty, !isSaving,
            heldBackUntil == nil, unacknowledged.count <= Limits.unacknowledgedCountMax / 2,
            unacknowledged.count == pendingCount
        else { return nil }
        var inFlight: [HeldQueue.InFlight] = []
        for sent in unacknowledged {
            guard sent.isQueued, let collapse = collapse(sent.sequence) else { return nil }
            inFlight.append(
                HeldQueue.InFlight(sequence: sent.sequence, topic: sent.topic, collapse: collapse, state: .stored))
        }
        return HeldQueue(
            device: device, stream: address, registrations: registrations, lastSent: lastSent,
            acknowledgementMilliseconds: acknowledgementMilliseconds, inFlight: inFlight)
    }

    /// Continues with a queue that a host returned.
    ///
    /// - Parameters:
    ///   - held: The queue.
    ///   - isWaiting: Returns whether the store still has a notification, or a broadcast, that was in flight.
    /// - Throws: The error of `isWaiting`.
    func takeBack<Failure>(
        _ held: HeldQueue, isWaiting: (HeldQueue.InFlight) throws(Failure) -> Bool
    ) throws(Failure) {
        unacknowledged = []
        for entry in held.inFlight {
            let (isQueued, mayBeGone, isNowOrNever, isBroadcast) =
                switch entry.state {
                case .unwritten: (true, false, false, false)
                case .stored: (true, true, false, false)
                case .nowOrNever: (false, false, true, false)
                case .broadcast(let isStored): (false, isStored, !isStored, true)
                }
            if mayBeGone, try !isWaiting(entry) { continue }
            unacknowledged.append(InFlight(sequence: entry.sequence, topic: entry.topic, isQueued: isQueued))
            guard isNowOrNever else { continue }
            nowOrNever.append(
                NowOrNever(sequence: entry.sequence, device: device, topic: entry.topic, isBroadcast: isBroadcast))
        }
        lastSent = max(lastSent, held.lastSent)
        acknowledgementMilliseconds = held.acknowledgementMilliseconds
    }

    /// Sends a stored broadcast that the host had not received when it returned the queue.
    ///
    /// The broadcast may exceed the window. A refill would skip the broadcast if its sequence is less than `lastSent`.
    func sendMissed(_ broadcast: PendingNotification) { send(broadcast) }

    // MARK: Sending

    /// Sends a newly accepted notification, or leaves it in the table.
    func offer(_ pending: PendingNotification, at moment: MonotonicTime) -> Offer {
        if isSaving, pending.notification.allowsDelay {
            heldBackUntil = heldBackUntil ?? moment.advanced(byMilliseconds: powerSavingDelayMilliseconds)
        } else {
            // An urgent notification releases the held-back batch.
            heldBackUntil = nil
        }
        guard !hasBacklog, space > 0, heldBackUntil == nil else {
            hasBacklog = true
            return .kept
        }
        if probe == nil { probe = (pending.sequence, moment) }
        send(pending)
        return .sent(acknowledgedWithin: acknowledgementMilliseconds)
    }

    /// Takes a now-or-never notification; returns false when the window is full.
    ///
    /// Rows of the table are sent before it. `refill` may therefore find that the window is full after all.
    func offerNow(_ pending: PendingNotification) -> Bool {
        guard space > nowOrNeverBehindBacklog.count else { return false }
        if hasBacklog {
            heldBackUntil = nil
            nowOrNeverBehindBacklog.append(pending)
        } else {
            sendNow(pending)
        }
        return true
    }

    /// Sends the rows that were read from the table after `lastSent`.
    ///
    /// - Parameters:
    ///   - read: The next rows in order, at most `space`, without damaged ones.
    ///   - last: The sequence up to which the table was read.
    ///   - isComplete: Whether no more rows are left.
    /// - Returns: The now-or-never notifications that found the window full.
    func refill(_ read: [PendingNotification], through last: Int64, isComplete: Bool) -> [NowOrNever] {
        var late: [NowOrNever] = []
        for pending in read {
            sendNowOrNever(before: pending.sequence, &late)
            guard space > 0 else {
                // Now-or-never notifications filled the window. The remaining rows stay in the table.
                late += nowOrNeverBehindBacklog.map(NowOrNever.init)
                nowOrNeverBehindBacklog = []
                return late
            }
            send(pending)
        }
        lastSent = max(lastSent, last)
        hasBacklog = !isComplete
        if isComplete {
            sendNowOrNever(before: .max, &late)
        } else {
            late += nowOrNeverBehindBacklog.map(NowOrNever.init)
            nowOrNeverBehindBacklog = []
        }
        return late
    }

    private func sendNowOrNever(before sequence: Int64, _ late: inout [NowOrNever]) {
        let due = nowOrNeverBehindBacklog.prefix { $0.sequence < sequence }
        for pending in due {
            if space > 0 { sendNow(pending) } else { late.append(NowOrNever(pending)) }
        }
        nowOrNeverBehindBacklog.removeFirst(due.count)
    }

    private func sendNow(_ pending: PendingNotification) {
        nowOrNever.append(NowOrNever(pending))
        send(pending, isNowOrNever: true)
    }

    private func send(_ pending: PendingNotification, isNowOrNever: Bool = false) {
        outgoing.append(pending)
        unacknowledged.append(
            InFlight(
                sequence: pending.sequence, topic: pending.notification.address.topic,
                isQueued: !isNowOrNever && pending.notification.channel == nil))
        lastSent = max(lastSent, pending.sequence)
    }

    /// Returns the notifications to deliver now, without those that expired during the commit, and clears the list.
    func takeOutgoing(now: Timestamp) -> [PendingNotification] {
        defer { outgoing = [] }
        func isLate(_ pending: PendingNotification) -> Bool {
            !pending.notification.isNowOrNever && pending.notification.isExpired(now: now)
        }
        return outgoing.contains(where: isLate) ? outgoing.filter { !isLate($0) } : outgoing
    }

    // MARK: Acknowledgement and removal

    /// Records that a notification was acknowledged.
    func acknowledge(_ sequence: Int64, at moment: MonotonicTime, measuredBy histogram: DurationHistogram) {
        if let probe, probe.sequence <= sequence {
            acknowledgementMilliseconds = moment.milliseconds(since: probe.moment)
            histogram.observe(nanoseconds: moment.nanoseconds(since: probe.moment))
            self.probe = nil
        }
        forget(sequence)
    }

    /// Records that a notification was written because its acknowledgement came too late.
    ///
    /// Until the next acknowledgement, none is expected to arrive in time.
    func noteSlow() { acknowledgementMilliseconds = .max }

    /// Removes an acknowledged or deleted notification, which frees a place in the window.
    func forget(_ sequence: Int64) {
        guard sequence <= lastSent else { return }
        forgetInFlight(sequence)
        if !outgoing.isEmpty { outgoing.removeAll { $0.sequence == sequence } }
    }

    private func forgetInFlight(_ sequence: Int64) {
        if let index = unacknowledged.firstIndex(where: { $0.sequence == sequence }) {
            unacknowledged.remove(at: index)
        }
    }

    /// Removes an acknowledged now-or-never notification; returns nil if the stream has none with this sequence.
    func acknowledgeNowOrNever(_ sequence: Int64) -> NowOrNever? {
        guard let index = nowOrNever.firstIndex(where: { $0.sequence == sequence }) else { return nil }
        forget(sequence)
        return nowOrNever.remove(at: index)
    }

    /// Drops the matching notifications that are not delivered yet; returns the now-or-never ones among them.
    func dropOutgoing(where isOfKind: (Notification) -> Bool) -> [NowOrNever] {
        let dropped = nowOrNeverBehindBacklog.filter { isOfKind($0.notification) }.map(NowOrNever.init)
        nowOrNeverBehindBacklog.removeAll { isOfKind($0.notification) }
        var never: [NowOrNever] = []
        for pending in outgoing where isOfKind(pending.notification) {
            forgetInFlight(pending.sequence)
            guard let index = nowOrNever.firstIndex(where: { $0.sequence == pending.sequence }) else { continue }
            never.append(nowOrNever.remove(at: index))
        }
        outgoing.removeAll { isOfKind($0.notification) }
        return never + dropped
    }

    /// The now-or-never notifications that can no longer be acknowledged when the stream closes.
    var abandoned: [NowOrNever] { nowOrNever + nowOrNeverBehindBacklog.map(NowOrNever.init) }

    // MARK: In flight

    /// Returns whether a notification of the device's queue is sent on this stream and not acknowledged.
    func isInFlight(_ sequence: Int64) -> Bool { unacknowledged.contains { $0.isQueued && $0.sequence == sequence } }

    /// Returns the number of in-flight notifications of the device's queue, for one topic or for all.
    func inFlightCount(of topic: TopicID?) -> Int {
        unacknowledged.count { $0.isQueued && (topic == nil || $0.topic == topic) }
    }

    /// The topics of the in-flight notifications of the device's queue, one element for each notification.
    var inFlightTopics: some Sequence<TopicID> { unacknowledged.lazy.filter(\.isQueued).map(\.topic) }

    // MARK: Saving power

    /// Records whether the device saves power.
    func setSaving(_ isSaving: Bool) {
        self.isSaving = isSaving
        if !isSaving { heldBackUntil = nil }
    }

    /// Sends the held-back notifications if their delay is over.
    func endGathering(by moment: MonotonicTime) {
        if let end = heldBackUntil, end <= moment { heldBackUntil = nil }
    }
}

extension DeviceStream.NowOrNever {
    fileprivate init(_ pending: PendingNotification) {
        self.init(
            sequence: pending.sequence, device: pending.notification.address.device,
            topic: pending.notification.address.topic,
            isBroadcast: pending.notification.channel != nil)
    }
}
