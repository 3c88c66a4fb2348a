// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The open streams of all devices.
struct Streams {
    private let gatheringMilliseconds: Int64
    private var byDevice: [DeviceID: DeliveryWindow] = [:]
    private var deviceByAddress: [ReplyAddress: DeviceID] = [:]
    /// Streams with notifications to deliver; may contain a stream twice, or a closed one.
    private var outgoing: [DeliveryWindow] = []
    /// Devices whose streams need a refill, in order; may contain a device twice, or one without a stream.
    private var needingRefill: [DeviceID] = []
    /// Devices with held-back notifications, ordered by the end of the delay; may contain devices whose delay ended
    /// early.
    private var gathering: [(device: DeviceID, end: MonotonicTime)] = []

    /// Takes the time for which non-urgent notifications are held back while a device saves power.
    init(gatheringMilliseconds: Int64) { self.gatheringMilliseconds = gatheringMilliseconds }

    /// A number that grows when a stream opens or closes.
    private(set) var version: UInt64 = 1

    var count: Int { byDevice.count }

    /// Whether a device is in the list that `takeHungry` returns.
    var anyNeedsRefill: Bool { !needingRefill.isEmpty }

    var openDevices: some Collection<DeviceID> { byDevice.keys }

    func isOpen(_ device: DeviceID) -> Bool { byDevice[device] != nil }

    func stream(of device: DeviceID) -> DeliveryWindow? { byDevice[device] }

    /// Opens a device's stream; returns the stream that it replaces.
    mutating func attach(_ device: DeviceID, _ address: ReplyAddress) -> DeliveryWindow? {
        let earlier = remove(device)
        byDevice[device] = DeliveryWindow(of: device, address: address, gatheringMilliseconds: gatheringMilliseconds)
        deviceByAddress[address] = device
        needingRefill.append(device)
        version += 1
        return earlier
    }

    /// Returns the device of the stream with an address; nil after another stream replaced it.
    func device(at address: ReplyAddress) -> DeviceID? { deviceByAddress[address] }

    /// Closes a device's stream; returns it.
    mutating func remove(_ device: DeviceID) -> DeliveryWindow? {
        guard let stream = byDevice.removeValue(forKey: device) else { return nil }
        deviceByAddress[stream.address] = nil
        stream.isClosed = true
        version += 1
        return stream
    }

    /// Offers a newly accepted notification to its device's stream.
    mutating func offer(
        _ pending: PendingNotification, to stream: DeliveryWindow?, at moment: MonotonicTime
    ) -> DeliveryWindow.Offer {
        guard let stream else { return .kept }
        return change(stream) { stream in stream.offer(pending, at: moment) }
    }

    /// Offers a now-or-never notification to its device's stream; returns false without a stream or without capacity.
    mutating func offerNow(_ pending: PendingNotification) -> Bool {
        change(pending.notification.address.device) { stream in stream.offerNow(pending) } ?? false
    }

    /// Records on a device's stream that the device acknowledged a notification.
    mutating func acknowledge(_ sequence: Int64, on stream: DeliveryWindow?, at moment: MonotonicTime) {
        if let stream { change(stream) { stream in stream.acknowledge(sequence, at: moment) } }
    }

    /// Records that the device acknowledged a now-or-never notification; returns nil when the sequence is not one.
    mutating func acknowledgeNowOrNever(_ sequence: Int64, by device: DeviceID) -> DeliveryWindow.NowOrNever? {
        change(device) { stream in stream.acknowledgeNowOrNever(sequence) } ?? nil
    }

    /// Removes a deleted notification from a device's stream.
    mutating func forget(_ sequence: Int64, of device: DeviceID) {
        change(device) { stream in stream.forget(sequence) }
    }

    /// Drops the matching notifications that are not delivered yet.
    ///
    /// - Parameters:
    ///   - device: The device; nil for all devices.
    ///   - isOfKind: Returns whether a notification is dropped.
    /// - Returns: The now-or-never notifications among them.
    mutating func dropOutgoing(
        on device: DeviceID?, where isOfKind: (Notification) -> Bool
    ) -> [DeliveryWindow.NowOrNever] {
        var never: [DeliveryWindow.NowOrNever] = []
        for device in device.map({ [$0] }) ?? (outgoing.map(\.device) + needingRefill) {
            never += change(device) { stream in stream.dropOutgoing(where: isOfKind) } ?? []
        }
        return never
    }

    // MARK: Saving power

    /// Records whether a device saves power.
    mutating func setSaving(_ isSaving: Bool, _ device: DeviceID) {
        change(device) { stream in stream.setSaving(isSaving) }
    }

    /// Ends the batch delays whose time is over.
    mutating func endGathering(by moment: MonotonicTime) {
        let due = gathering.prefix { $0.end <= moment }
        guard !due.isEmpty else { return }
        gathering.removeFirst(due.count)
        for entry in due { change(entry.device) { stream in stream.endGathering(by: moment) } }
    }

    /// The time at which the next batch delay ends; nil when no notification is held back.
    var nextGatheringEnd: MonotonicTime? { gathering.first?.end }

    // MARK: Reading

    /// Passes the notifications to deliver now to the closure and clears the list.
    mutating func takeOutgoing(now: Int64, _ deliver: ([PendingNotification], DeliveryWindow) -> Void) {
        for stream in outgoing where !stream.isClosed {
            let notifications = stream.takeOutgoing(now: now)
            if !notifications.isEmpty { deliver(notifications, stream) }
        }
        outgoing.removeAll(keepingCapacity: true)
    }

    /// Returns the devices whose streams may need a refill, and clears the list.
    mutating func takeNeedingRefill() -> [DeviceID] {
        defer { needingRefill = [] }
        return needingRefill
    }

    /// Returns the stream of a device if it needs a refill now.
    func hungryStream(of device: DeviceID) -> DeliveryWindow? {
        guard let stream = byDevice[device], stream.needsRefill else { return nil }
        return stream
    }

    /// Sends the rows that were read for a device's stream; see `DeliveryWindow.refill`.
    ///
    /// - Parameters:
    ///   - device: The device, which is queued again if its stream still needs a refill.
    ///   - read: The next rows, in order.
    ///   - last: The sequence up to which the table was read.
    ///   - isComplete: Whether no more rows are left.
    /// - Returns: The now-or-never notifications that found the window full.
    mutating func refill(
        _ device: DeviceID, _ read: [PendingNotification], through last: Int64, isComplete: Bool
    ) -> [DeliveryWindow.NowOrNever] {
        let late = change(device) { stream in stream.refill(read, through: last, isComplete: isComplete) }
        if byDevice[device]?.needsRefill == true { needingRefill.append(device) }
        return late ?? []
    }

    /// Queues a device for a refill again.
    mutating func postpone(_ device: DeviceID) { needingRefill.append(device) }

    /// Changes a stream and adds it to the lists that its new state requires.
    @discardableResult
    private mutating func change<Result>(_ device: DeviceID, _ body: (DeliveryWindow) -> Result) -> Result? {
        byDevice[device].map { stream in change(stream, body) }
    }

    @discardableResult
    private mutating func change<Result>(_ stream: DeliveryWindow, _ body: (DeliveryWindow) -> Result) -> Result {
        let (hadOutgoing, wasHungry, end) = (!stream.outgoing.isEmpty, stream.needsRefill, stream.gatheringEnd)
        let result = body(stream)
        if end == nil, let end = stream.gatheringEnd { gathering.append((stream.device, end)) }
        if !hadOutgoing, !stream.outgoing.isEmpty { outgoing.append(stream) }
        if !wasHungry, stream.needsRefill { needingRefill.append(stream.device) }
        return result
    }
}
