// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// The stream of a device on this node, and what was sent on it.
///
/// ```
/// attaching ─row committed, account read─▶ reading ─nothing left, no mark─▶ open ─marked─▶ reading
///     ▲─────────────── the shard may have lost the row ◀───────┴──────────────┘
/// ```
final class HostedStream {
    enum State {
        /// The shard may not have the row in `hosts`, so nothing is delivered.
        case attaching
        /// Rows may wait in the shard that were not sent.
        case reading
        /// Everything that waits was sent.
        case open
    }

    /// A notification that was sent and is not acknowledged.
    struct Sent {
        enum State {
            /// The notification is neither acknowledged nor written, and its sender waits.
            case unwritten(WaitingNotification)
            /// The notification is being written.
            case writing(WaitingNotification)
            /// The shard has the notification.
            case written
            case nowOrNever
            case broadcast(ChannelNumber, isStored: Bool)
        }

        var id: Int64
        var key: RowKey
        var uniqueID: UniqueID
        var topic: TopicID
        /// The generation of the registration.
        var generation: UInt32
        var state: State

        /// Whether other devices receive the notification too.
        var isBroadcast: Bool { if case .broadcast = state { true } else { false } }
    }

    let device: DeviceID
    let secretHash: [UInt8]
    let address: ReplyAddress
    /// The number of the attachment; the stream with the highest one is the device's.
    let epoch: Int64
    let openedAt: MonotonicTime
    /// The name and version of the agent; nil if they are not known.
    var agent: String?
    var state = State.attaching
    /// Whether the stream has ended.
    var hasEnded = false
    /// Whether the loop knows that the stream is attached.
    var isAnnounced = false
    /// Whether rows may have been written since the last reading was requested.
    var isMarked = false
    /// Whether `StreamReview` requested the reading, so that no node has announced the rows that it finds.
    var isReviewed = false
    /// Whether the registrations must be read again.
    var needsAccount = true
    /// Whether a reading is requested and not answered.
    var isReadingRequested = false
    /// The number of the last reading that was requested; the results of earlier ones are ignored.
    var readingNumber = 0
    /// The time at which the shard answered that the stream is registered; nil before.
    var attachedAt: MonotonicTime?
    var account = ShardResult.Account()
    /// The notifications that were sent to the device, also on earlier streams.
    var history: DeliveryHistory
    /// Whether the history was read again for an unknown number.
    var hasAskedAgain = false
    /// The acknowledgements of unknown numbers that wait until the history is read again.
    var undecided: [DeviceAPI.Acknowledgement] = []
    /// The notifications to deliver at the end of the turn, in order.
    var outgoing: [PendingNotification] = []
    /// Now-or-never notifications that wait until what was accepted before them is read.
    private(set) var nowOrNever: [PendingNotification] = []
    /// The broadcasts that wait until what was accepted before them is sent.
    var broadcasts: [PublishedBroadcast] = []
    /// Whether the device saves power.
    var isSaving = false
    /// The end of the time for which non-urgent notifications are held back; nil if none is held back.
    var heldBackUntil: MonotonicTime?
    private(set) var window: [Sent] = []
    /// The highest number that was sent.
    private(set) var lastID: Int64 = 0
    /// The latest measured time from sending to acknowledgement, in milliseconds.
    private var acknowledgementMilliseconds: Int64 = 0
    private var probe: (id: Int64, sentAt: MonotonicTime)?

    init(
        _ device: DeviceID, secretHash: [UInt8], _ address: ReplyAddress, epoch: Int64, at openedAt: MonotonicTime
    ) {
        self.device = device
        self.secretHash = secretHash
        self.address = address
        self.epoch = epoch
        self.openedAt = openedAt
        history = DeliveryHistory(device)
    }

    var hasSpace: Bool { window.count < Limits.unacknowledgedCountMax }
    /// Whether new notifications are sent at once.
    var isOpen: Bool { if case .open = state { hasSpace && heldBackUntil == nil } else { false } }

    /// Returns the registration of an app, live or ended.
    func registration(of topic: TopicID) -> RegistrationState? {
        for registration in account.registrations where registration.topic == topic { return registration.row }
        return nil
    }

    /// Returns whether a waiting row may be delivered: it has not expired, and its registration is live.
    func accepts(_ row: ShardResult.Row, _ notification: Notification, now: Timestamp) -> Bool {
        guard !notification.isExpired(now: now), row.expiresAt.map({ $0 >= now }) ?? true,
            let registration = registration(of: row.topic), registration.isLive, !registration.isRefused
        else { return false }
        return registration.generation == notification.address.generation
    }

    // MARK: Sending

    /// Sends a notification at the end of the turn.
    func send(_ pending: PendingNotification, _ key: RowKey, _ state: Sent.State) {
        lastID = max(lastID, pending.sequence)
        outgoing.append(pending)
        window.append(
            Sent(
                id: pending.sequence, key: key, uniqueID: pending.notification.uniqueID,
                topic: pending.notification.address.topic, generation: pending.notification.address.generation,
                state: state))
    }

    /// Queues a now-or-never notification, in the order of numbers.
    ///
    /// A notification of another node may arrive late, with a lower number than those that wait.
    func waitNowOrNever(_ pending: PendingNotification) {
        let place = nowOrNever.lastIndex { $0.sequence < pending.sequence }.map { $0 + 1 } ?? 0
        nowOrNever.insert(pending, at: place)
    }

    /// Removes the now-or-never notifications that precede the row with a number, and returns them in order.
    func takeNowOrNever(before number: Int64) -> [PendingNotification] {
        let end = nowOrNever.lastIndex { $0.sequence < number }.map { $0 + 1 } ?? 0
        defer { nowOrNever.removeFirst(end) }
        return Array(nowOrNever[..<end])
    }

    /// Returns whether a row with a key may exist, so that another notification must replace it.
    func mayHaveRow(_ key: RowKey) -> Bool {
        window.contains { sent in
            guard sent.key == key else { return false }
            return switch sent.state {
            case .nowOrNever, .broadcast: false
            case .unwritten, .writing, .written: true
            }
        }
    }

    func contains(_ uniqueID: UniqueID) -> Bool { window.contains { $0.uniqueID == uniqueID } }

    // MARK: Acknowledgement

    /// Removes an acknowledged notification; returns nil if it is not in the window.
    func acknowledge(_ id: Int64, at moment: MonotonicTime, measuredBy histogram: DurationHistogram) -> Sent? {
        guard let index = window.firstIndex(where: { $0.id == id }) else { return nil }
        if let probe, probe.id <= id {
            acknowledgementMilliseconds = moment.milliseconds(since: probe.sentAt)
            histogram.observe(nanoseconds: moment.nanoseconds(since: probe.sentAt))
            self.probe = nil
        }
        return window.remove(at: index)
    }

    /// Starts to measure how long the acknowledgement of a notification takes, unless another one is measured.
    func measure(_ id: Int64, at moment: MonotonicTime) { if probe == nil { probe = (id, moment) } }

    /// Returns whether an acknowledgement can be expected within a time.
    func acknowledges(within milliseconds: Int64) -> Bool { acknowledgementMilliseconds <= milliseconds }

    /// Records that an acknowledgement did not arrive in time; none is expected in time until the next one.
    func noteSlow() { acknowledgementMilliseconds = .max }

    // MARK: Writing

    /// Changes the state of a notification in the window; returns false if it is not there.
    func set(_ state: Sent.State, of id: Int64) -> Bool {
        guard let index = window.firstIndex(where: { $0.id == id }) else { return false }
        window[index].state = state
        return true
    }

    /// Removes a notification that was not written because its registration has ended.
    func remove(_ id: Int64) { window.removeAll { $0.id == id } }

    /// Removes everything from the window that satisfies a condition.
    func removeFromWindow(where isUnneeded: (Sent) -> Bool) { window.removeAll(where: isUnneeded) }

    /// Returns whether a notification is neither acknowledged nor being written.
    func isUnwritten(_ waiting: WaitingNotification) -> Bool {
        window.contains { sent in
            if case .unwritten(let found) = sent.state { found === waiting } else { false }
        }
    }

    /// The notifications that are neither acknowledged nor being written.
    var unwritten: [WaitingNotification] {
        window.compactMap { if case .unwritten(let waiting) = $0.state { waiting } else { nil } }
    }
}
