// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// One device's open stream: what was sent on it, what is acknowledged, whether more waits in the table.
///
/// Everything up to `lastSent` was sent on this stream, has expired or is gone. Behind it lie rows of the table if
/// `hasBacklog`; while there is none, and the window has room, new notifications go out without being read again.
final class DeviceStream {
    /// One that is now or never and not acknowledged.
    struct NowOrNever {
        var sequence: Int64
        var device: DeviceID
        var topic: TopicID
        /// False for a copy of a broadcast, which counts once for all.
        var isCounted: Bool
    }

    /// What becomes of a notification that was just accepted.
    enum Offer {
        /// It stays in the table for now.
        case kept
        /// It goes out, and will likely be acknowledged within so many milliseconds.
        case sent(acknowledgedWithin: Int64)
    }

    let device: DeviceID
    /// Where deliveries go.
    let address: ReplyAddress
    /// What will be handed out next, in order.
    private(set) var outgoing: [PendingNotification] = []
    /// Whether the table holds more than was sent; true at first, because nothing was.
    private(set) var hasBacklog = true
    /// The last sequence that was sent or left out.
    private(set) var lastSent: Int64 = 0
    /// How long the device took to acknowledge the last time that this was looked at, in milliseconds.
    private var acknowledgementMilliseconds: Int64 = 0
    /// The device saves power: what has no haste is gathered.
    private(set) var isSaving = false
    /// Until when what has no haste is kept back; nil when nothing is.
    private(set) var gatheringEnd: MonotonicTime?
    /// Another stream took over, or the device is gone.
    var isClosed = false
    /// Sent and not acknowledged, ascending.
    private var unacknowledged: [Int64] = []
    private var nowOrNever: [NowOrNever] = []
    /// Now or never, and behind rows that are still to be read; in order.
    private var held: [PendingNotification] = []
    /// One that was sent, and when, to see how soon it is acknowledged.
    private var probe: (sequence: Int64, moment: MonotonicTime)?

    private let gatheringMilliseconds: Int64

    /// Opens one.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - address: Where deliveries go.
    ///   - gatheringMilliseconds: How long what has no haste is kept back while the device saves power.
    init(of device: DeviceID, address: ReplyAddress, gatheringMilliseconds: Int64) {
        self.device = device
        self.address = address
        self.gatheringMilliseconds = gatheringMilliseconds
    }

    /// How many more may be sent before an acknowledgement.
    var room: Int { Limits.unacknowledgedCountMax - unacknowledged.count }

    /// Whether the table should be read now.
    var isHungry: Bool { hasBacklog && room > 0 && gatheringEnd == nil }

    // MARK: Sending

    /// Takes a notification that was just accepted, or leaves it to the table.
    func offer(_ pending: PendingNotification, at moment: MonotonicTime) -> Offer {
        if isSaving, pending.notification.hasNoHaste {
            gatheringEnd = gatheringEnd ?? moment.advanced(byMilliseconds: gatheringMilliseconds)
        } else {
            // It takes with it what was kept back before it.
            gatheringEnd = nil
        }
        guard !hasBacklog, room > 0, gatheringEnd == nil else {
            hasBacklog = true
            return .kept
        }
        if probe == nil { probe = (pending.sequence, moment) }
        send(pending)
        return .sent(acknowledgedWithin: acknowledgementMilliseconds)
    }

    /// Takes one that is delivered now or never; false when the window has no room.
    ///
    /// What the table holds goes before it, and `refill` may find then that there is no room after all.
    func offerNow(_ pending: PendingNotification) -> Bool {
        guard room > held.count else { return false }
        if hasBacklog {
            gatheringEnd = nil
            held.append(pending)
        } else {
            sendNow(pending)
        }
        return true
    }

    /// Takes what was read from the table behind `lastSent`.
    ///
    /// - Parameters:
    ///   - read: The next rows, in order, at most `room`, without damaged ones.
    ///   - last: The sequence up to which the table was read.
    ///   - isComplete: Whether nothing is left there.
    /// - Returns: Now-or-never ones that found the window full after all.
    func refill(_ read: [PendingNotification], through last: Int64, isComplete: Bool) -> [NowOrNever] {
        var late: [NowOrNever] = []
        for pending in read {
            sendHeld(before: pending.sequence, &late)
            guard room > 0 else {
                // What is held took the place; the rest stays in the table.
                late += held.map(NowOrNever.init)
                held = []
                return late
            }
            send(pending)
        }
        lastSent = max(lastSent, last)
        hasBacklog = !isComplete
        if isComplete {
            sendHeld(before: .max, &late)
        } else {
            late += held.map(NowOrNever.init)
            held = []
        }
        return late
    }

    private func sendHeld(before sequence: Int64, _ late: inout [NowOrNever]) {
        let due = held.prefix { $0.sequence < sequence }
        for pending in due {
            if room > 0 { sendNow(pending) } else { late.append(NowOrNever(pending)) }
        }
        held.removeFirst(due.count)
    }

    private func sendNow(_ pending: PendingNotification) {
        nowOrNever.append(NowOrNever(pending))
        send(pending)
    }

    private func send(_ pending: PendingNotification) {
        outgoing.append(pending)
        unacknowledged.append(pending.sequence)
        lastSent = max(lastSent, pending.sequence)
    }

    /// Takes out what goes out now, without what expired while it was committed.
    func takeOutgoing(now: Int64) -> [PendingNotification] {
        defer { outgoing = [] }
        func isLate(_ pending: PendingNotification) -> Bool {
            !pending.notification.isNowOrNever && pending.notification.isExpired(now: now)
        }
        return outgoing.contains(where: isLate) ? outgoing.filter { !isLate($0) } : outgoing
    }

    // MARK: What becomes of it

    /// Notes that a notification was acknowledged.
    func acknowledge(_ sequence: Int64, at moment: MonotonicTime) {
        if let probe, probe.sequence <= sequence {
            acknowledgementMilliseconds = moment.milliseconds(since: probe.moment)
            self.probe = nil
        }
        forget(sequence)
    }

    /// Notes that one was written because its acknowledgement did not come in time: until one comes, none is expected.
    func noteSlow() { acknowledgementMilliseconds = .max }

    /// Forgets one that was acknowledged or removed: it is not sent any more, and makes room.
    func forget(_ sequence: Int64) {
        guard sequence <= lastSent else { return }
        if let index = unacknowledged.firstIndex(of: sequence) { unacknowledged.remove(at: index) }
        if !outgoing.isEmpty { outgoing.removeAll { $0.sequence == sequence } }
    }

    /// Forgets one that was now or never and was acknowledged; nil when there is no such one.
    func acknowledgeNowOrNever(_ sequence: Int64) -> NowOrNever? {
        guard let index = nowOrNever.firstIndex(where: { $0.sequence == sequence }) else { return nil }
        forget(sequence)
        return nowOrNever.remove(at: index)
    }

    /// Drops what would go out and is of a kind; returns those of it that were now or never.
    func dropOutgoing(where isOfKind: (Notification) -> Bool) -> [NowOrNever] {
        let dropped = held.filter { isOfKind($0.notification) }.map(NowOrNever.init)
        held.removeAll { isOfKind($0.notification) }
        var never: [NowOrNever] = []
        for pending in outgoing where isOfKind(pending.notification) {
            if let index = unacknowledged.firstIndex(of: pending.sequence) { unacknowledged.remove(at: index) }
            guard let index = nowOrNever.firstIndex(where: { $0.sequence == pending.sequence }) else { continue }
            never.append(nowOrNever.remove(at: index))
        }
        outgoing.removeAll { isOfKind($0.notification) }
        return never + dropped
    }

    /// Those that are now or never and will not be acknowledged any more, when the stream closes.
    var abandoned: [NowOrNever] { nowOrNever + held.map(NowOrNever.init) }

    // MARK: Saving power

    /// Notes whether the device saves power.
    func setSaving(_ isSaving: Bool) {
        self.isSaving = isSaving
        if !isSaving { gatheringEnd = nil }
    }

    /// Lets go what was kept back long enough.
    func endGathering(by moment: MonotonicTime) {
        if let end = gatheringEnd, end <= moment { gatheringEnd = nil }
    }
}

extension DeviceStream.NowOrNever {
    fileprivate init(_ pending: PendingNotification) {
        self.init(
            sequence: pending.sequence, device: pending.notification.address.device,
            topic: pending.notification.address.topic,
            isCounted: pending.notification.channel == nil)
    }
}

extension Notification {
    /// Whether its provider allows a delay to save power: priorities 5 and 1.
    fileprivate var hasNoHaste: Bool { (priority ?? 10) < 10 }
}
