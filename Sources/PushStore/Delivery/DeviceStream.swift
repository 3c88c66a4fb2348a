// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// One device's open stream: what was sent on it, what is acknowledged, whether more waits in the table.
///
/// Everything up to `lastSent` was sent on this stream, has expired or is gone. Behind it lie rows of the table if
/// `hasBacklog`; while there is none, and the window has room, new notifications go out without being read again.
struct DeviceStream {
    /// Where deliveries go.
    let address: ReplyAddress
    /// What will be handed out next, in order.
    private(set) var outgoing: [PendingNotification] = []
    /// Whether the table holds more than was sent; true at first, because nothing was.
    private(set) var hasBacklog = true
    /// The last sequence that was sent or left out.
    private(set) var lastSent: Int64 = 0
    /// Sent and not acknowledged, ascending.
    private var unacknowledged: [Int64] = []
    /// Now or never, and behind rows that are still to be read; in order.
    private var held: [Held] = []

    private struct Held {
        /// The last sequence that was given out before it came.
        var after: Int64
        var notification: Notification
    }

    init(address: ReplyAddress) { self.address = address }

    /// How many more may be sent before an acknowledgement.
    var room: Int { Limits.unacknowledgedCountMax - unacknowledged.count }

    /// Whether the table should be read now.
    var isHungry: Bool { hasBacklog && room > 0 }

    /// Takes a notification that was just stored, or leaves it to the table.
    mutating func offer(_ pending: PendingNotification) {
        guard !hasBacklog, room > 0 else {
            hasBacklog = true
            return
        }
        send(pending)
    }

    /// Takes one that is delivered now or never; false when the window has no room.
    ///
    /// - Parameters:
    ///   - notification: The notification.
    ///   - after: The last sequence that was given out before it: what the table holds up to there goes first.
    /// - Returns: Whether it will be delivered, unless `refill` says otherwise.
    mutating func offerNow(_ notification: Notification, after: Int64) -> Bool {
        guard room > 0 else { return false }
        if hasBacklog {
            held.append(Held(after: after, notification: notification))
        } else {
            outgoing.append(PendingNotification(sequence: 0, notification: notification))
        }
        return true
    }

    /// Takes what was read from the table behind `lastSent`.
    ///
    /// - Parameters:
    ///   - read: The next rows, in order, at most `room`, without damaged ones.
    ///   - last: The sequence up to which the table was read.
    ///   - isComplete: Whether nothing is left there.
    /// - Returns: How many now-or-never ones found the window full after all, without broadcasts.
    mutating func refill(_ read: [PendingNotification], through last: Int64, isComplete: Bool) -> Int {
        hasBacklog = !isComplete
        for pending in read {
            sendHeld { $0.after < pending.sequence }
            send(pending)
        }
        lastSent = max(lastSent, last)
        guard isComplete else {
            defer { held = [] }
            return held.count { $0.notification.isCountedAlone }
        }
        sendHeld { _ in true }
        return 0
    }

    /// Forgets one that was acknowledged or removed: it is not sent any more, and makes room.
    mutating func forget(_ sequence: Int64) {
        guard sequence <= lastSent else { return }
        if let index = unacknowledged.firstIndex(of: sequence) { unacknowledged.remove(at: index) }
        outgoing.removeAll { $0.sequence == sequence }
    }

    /// Drops what would go out and is of a kind; returns how many of it were now or never, without broadcasts.
    mutating func dropOutgoing(where isOfKind: (Notification) -> Bool) -> Int {
        let before = nowOrNeverCount
        outgoing.removeAll { isOfKind($0.notification) }
        held.removeAll { isOfKind($0.notification) }
        return before - nowOrNeverCount
    }

    /// How many now-or-never ones have not gone out yet, without broadcasts.
    var nowOrNeverCount: Int {
        held.count { $0.notification.isCountedAlone }
            + outgoing.count { $0.sequence == 0 && $0.notification.isCountedAlone }
    }

    /// Takes out what goes out now, without what expired while it was committed.
    mutating func takeOutgoing(now: Int64) -> [PendingNotification] {
        defer { outgoing = [] }
        return outgoing.filter { $0.sequence == 0 || !$0.notification.isExpired(now: now) }
    }

    private mutating func sendHeld(while isNext: (Held) -> Bool) {
        let due = held.prefix(while: isNext)
        for held in due { outgoing.append(PendingNotification(sequence: 0, notification: held.notification)) }
        held.removeFirst(due.count)
    }

    private mutating func send(_ pending: PendingNotification) {
        outgoing.append(pending)
        unacknowledged.append(pending.sequence)
        lastSent = pending.sequence
    }
}

extension Notification {
    /// Whether this is no copy of a broadcast, which counts once for all.
    fileprivate var isCountedAlone: Bool { channel == nil }
}
