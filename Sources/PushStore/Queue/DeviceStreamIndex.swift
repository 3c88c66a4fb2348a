// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The open streams of all devices, and the lists of those with work to do.
///
/// The stream of a device is in its record. The lists refer to records, whose stream may have been closed or replaced
/// since.
struct DeviceStreamIndex {
    private let bounds: StoreBounds
    /// The times from a delivery to its acknowledgement.
    private let acknowledgements: DurationHistogram
    private var byAddress: [ReplyAddress: DeviceQueue] = [:]
    /// Devices with notifications to deliver; may contain a device twice.
    private var outgoing: [DeviceQueue] = []
    /// Devices whose streams need a refill, in order; may contain a device twice, or one without a stream.
    private var needingRefill: [DeviceQueue] = []
    /// Devices with held-back notifications, ordered by the end of the delay; may contain devices whose delay ended
    /// early.
    private var heldBack: [(queue: DeviceQueue, end: MonotonicTime)] = []

    init(_ bounds: StoreBounds, _ acknowledgements: DurationHistogram) {
        self.bounds = bounds
        self.acknowledgements = acknowledgements
    }

    var count: Int { byAddress.count }

    /// Whether a device is in the list that `takeNeedingRefill` returns.
    var anyNeedsRefill: Bool { !needingRefill.isEmpty }

    var openDevices: some Sequence<DeviceID> { byAddress.values.lazy.map(\.device) }

    /// Opens a device's stream; returns the stream that it replaces.
    mutating func attach(_ queue: DeviceQueue, _ address: ReplyAddress) -> DeviceStream? {
        let earlier = remove(queue)
        queue.stream = DeviceStream(
            of: queue.device, address: address, powerSavingDelayMilliseconds: bounds.powerSavingDelayMilliseconds)
        byAddress[address] = queue
        needingRefill.append(queue)
        return earlier
    }

    /// Returns the device of the stream with an address; nil after another stream replaced it.
    func queue(at address: ReplyAddress) -> DeviceQueue? { byAddress[address] }

    /// Closes a device's stream; returns it.
    mutating func remove(_ queue: DeviceQueue) -> DeviceStream? {
        guard let stream = queue.stream else { return nil }
        byAddress[stream.address] = nil
        queue.stream = nil
        return stream
    }

    /// Offers a newly accepted notification to its device's stream.
    mutating func offer(
        _ pending: PendingNotification, to queue: DeviceQueue, at moment: MonotonicTime
    ) -> DeviceStream.Offer {
        change(queue) { stream in stream.offer(pending, at: moment) } ?? .kept
    }

    /// Offers a now-or-never notification to its device's stream; returns false without a stream or without capacity.
    mutating func offerNow(_ pending: PendingNotification, to queue: DeviceQueue) -> Bool {
        change(queue) { stream in stream.offerNow(pending) } ?? false
    }

    /// Sends a stored broadcast that the device's host did not deliver; see `DeviceStream.sendMissed`.
    mutating func sendMissed(_ broadcast: PendingNotification, to queue: DeviceQueue) {
        change(queue) { stream in stream.sendMissed(broadcast) }
    }

    /// Records on a device's stream that the device acknowledged a notification.
    mutating func acknowledge(_ sequence: Int64, by queue: DeviceQueue, at moment: MonotonicTime) {
        let acknowledgements = acknowledgements
        change(queue) { stream in stream.acknowledge(sequence, at: moment, measuredBy: acknowledgements) }
    }

    /// Records that the device acknowledged a now-or-never notification; returns nil if the sequence is not one.
    mutating func acknowledgeNowOrNever(_ sequence: Int64, by queue: DeviceQueue) -> DeviceStream.NowOrNever? {
        change(queue) { stream in stream.acknowledgeNowOrNever(sequence) } ?? nil
    }

    /// Removes a deleted notification from a device's stream.
    mutating func forget(_ sequence: Int64, of queue: DeviceQueue) {
        change(queue) { stream in stream.forget(sequence) }
    }

    /// Drops the matching notifications of a device that are not delivered yet.
    ///
    /// - Parameters:
    ///   - queue: The device's queue.
    ///   - isOfKind: Returns whether a notification is dropped.
    /// - Returns: The now-or-never notifications among them.
    mutating func dropOutgoing(
        on queue: DeviceQueue, where isOfKind: (Notification) -> Bool
    ) -> [DeviceStream.NowOrNever] {
        change(queue) { stream in stream.dropOutgoing(where: isOfKind) } ?? []
    }

    /// Drops the matching notifications of all devices that are not delivered yet; returns the now-or-never ones.
    mutating func dropOutgoing(where isOfKind: (Notification) -> Bool) -> [DeviceStream.NowOrNever] {
        var never: [DeviceStream.NowOrNever] = []
        for queue in outgoing + needingRefill { never += dropOutgoing(on: queue, where: isOfKind) }
        return never
    }

    // MARK: Saving power

    /// Records whether a device saves power.
    mutating func setSaving(_ isSaving: Bool, _ queue: DeviceQueue) {
        change(queue) { stream in stream.setSaving(isSaving) }
    }

    /// Sends the held-back notifications whose delay is over.
    mutating func endGathering(by moment: MonotonicTime) {
        let due = heldBack.prefix { $0.end <= moment }
        guard !due.isEmpty else { return }
        heldBack.removeFirst(due.count)
        for entry in due { change(entry.queue) { stream in stream.endGathering(by: moment) } }
    }

    /// The time at which the next held-back notifications are sent; nil if no notification is held back.
    var nextHeldBackEnd: MonotonicTime? { heldBack.first?.end }

    // MARK: Reading

    /// Passes the notifications to deliver now to the closure and clears the list.
    mutating func takeOutgoing(now: Timestamp, _ deliver: ([PendingNotification], DeviceStream) -> Void) {
        for queue in outgoing {
            guard let stream = queue.stream else { continue }
            let notifications = stream.takeOutgoing(now: now)
            if !notifications.isEmpty { deliver(notifications, stream) }
        }
        outgoing.removeAll(keepingCapacity: true)
    }

    /// Returns the devices whose streams may need a refill, and clears the list.
    mutating func takeNeedingRefill() -> [DeviceQueue] {
        defer { needingRefill = [] }
        return needingRefill
    }

    /// Sends the rows that were read for a device's stream; see `DeviceStream.refill`.
    ///
    /// - Parameters:
    ///   - queue: The device's queue. It is queued again if its stream still needs a refill.
    ///   - read: The next rows, in order.
    ///   - last: The sequence up to which the table was read.
    ///   - isComplete: Whether no more rows are left.
    /// - Returns: The now-or-never notifications that found the window full.
    mutating func refill(
        _ queue: DeviceQueue, _ read: [PendingNotification], through last: Int64, isComplete: Bool
    ) -> [DeviceStream.NowOrNever] {
        let late = change(queue) { stream in stream.refill(read, through: last, isComplete: isComplete) }
        if queue.stream?.needsRefill == true { needingRefill.append(queue) }
        return late ?? []
    }

    /// Queues a device for a refill again.
    mutating func postpone(_ queue: DeviceQueue) { needingRefill.append(queue) }

    /// Changes a device's stream and adds the device to the lists that the new state requires; returns nil without a
    /// stream.
    @discardableResult
    private mutating func change<Result>(_ queue: DeviceQueue, _ body: (DeviceStream) -> Result) -> Result? {
        guard let stream = queue.stream else { return nil }
        let (hadOutgoing, neededRefill, end) = (!stream.outgoing.isEmpty, stream.needsRefill, stream.heldBackUntil)
        let result = body(stream)
        if end == nil, let end = stream.heldBackUntil { heldBack.append((queue, end)) }
        if !hadOutgoing, !stream.outgoing.isEmpty { outgoing.append(queue) }
        if !neededRefill, stream.needsRefill { needingRefill.append(queue) }
        return result
    }
}
