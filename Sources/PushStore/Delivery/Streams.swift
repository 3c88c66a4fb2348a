// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The open streams of all devices.
struct Streams {
    private let gatheringMilliseconds: Int64
    private var byDevice: [DeviceID: DeviceStream] = [:]
    private var deviceByAddress: [ReplyAddress: DeviceID] = [:]
    /// Those with something to hand out; may name one twice, or one that is closed.
    private var outgoing: [DeviceStream] = []
    /// Devices whose table should be read, in turn; may name one twice, or one that is gone.
    private var hungry: [DeviceID] = []
    /// From whom something is kept back, and until when, in that order; may name one that has it already.
    private var gathering: [(device: DeviceID, end: MonotonicTime)] = []

    /// Takes how long what has no haste is kept back from devices that save power.
    init(gatheringMilliseconds: Int64) { self.gatheringMilliseconds = gatheringMilliseconds }

    /// Grows when a stream is opened or closed.
    private(set) var version: UInt64 = 1

    /// How many streams are open.
    var count: Int { byDevice.count }

    /// Whether a stream waits for `nextHungry`.
    var hasHungry: Bool { !hungry.isEmpty }

    /// The devices whose streams are open.
    var openDevices: some Collection<DeviceID> { byDevice.keys }

    /// Whether a device's stream is open.
    func isOpen(_ device: DeviceID) -> Bool { byDevice[device] != nil }

    /// The open stream of a device.
    func stream(of device: DeviceID) -> DeviceStream? { byDevice[device] }

    /// Opens a device's stream; returns the one that it replaces.
    mutating func attach(_ device: DeviceID, _ address: ReplyAddress) -> DeviceStream? {
        let earlier = remove(device)
        byDevice[device] = DeviceStream(of: device, address: address, gatheringMilliseconds: gatheringMilliseconds)
        deviceByAddress[address] = device
        hungry.append(device)
        version += 1
        return earlier
    }

    /// The device whose stream has an address; nil once another stream took over.
    func device(at address: ReplyAddress) -> DeviceID? { deviceByAddress[address] }

    /// Closes a device's stream; returns it.
    mutating func remove(_ device: DeviceID) -> DeviceStream? {
        guard let stream = byDevice.removeValue(forKey: device) else { return nil }
        deviceByAddress[stream.address] = nil
        stream.isClosed = true
        version += 1
        return stream
    }

    /// Shows an accepted notification to its device's stream.
    mutating func offer(
        _ pending: PendingNotification, to stream: DeviceStream?, at moment: MonotonicTime
    ) -> DeviceStream.Offer {
        guard let stream else { return .kept }
        return change(stream) { stream in stream.offer(pending, at: moment) }
    }

    /// Gives one that is now or never to its device's stream; false when it found none with room.
    mutating func offerNow(_ pending: PendingNotification) -> Bool {
        change(pending.notification.address.device) { stream in stream.offerNow(pending) } ?? false
    }

    /// Tells a device's stream that the device acknowledged a notification.
    mutating func acknowledge(_ sequence: Int64, on stream: DeviceStream?, at moment: MonotonicTime) {
        if let stream { change(stream) { stream in stream.acknowledge(sequence, at: moment) } }
    }

    /// Tells a device's stream that the device acknowledged one that may be now or never; nil when it is not.
    mutating func acknowledgeNowOrNever(_ sequence: Int64, by device: DeviceID) -> DeviceStream.NowOrNever? {
        change(device) { stream in stream.acknowledgeNowOrNever(sequence) } ?? nil
    }

    /// Tells a device's stream that a notification is gone from the queue.
    mutating func forget(_ sequence: Int64, of device: DeviceID) {
        change(device) { stream in stream.forget(sequence) }
    }

    /// Drops what would go out and is of a kind, on a device or on all.
    ///
    /// - Parameters:
    ///   - device: The device; all when nil.
    ///   - isOfKind: Whether one is dropped.
    /// - Returns: Those of it that were now or never.
    mutating func dropOutgoing(
        on device: DeviceID?, where isOfKind: (Notification) -> Bool
    ) -> [DeviceStream.NowOrNever] {
        var never: [DeviceStream.NowOrNever] = []
        for device in device.map({ [$0] }) ?? (outgoing.map(\.device) + hungry) {
            never += change(device) { stream in stream.dropOutgoing(where: isOfKind) } ?? []
        }
        return never
    }

    // MARK: Saving power

    /// Notes whether a device saves power.
    mutating func setSaving(_ isSaving: Bool, _ device: DeviceID) {
        change(device) { stream in stream.setSaving(isSaving) }
    }

    /// Lets go what was kept back long enough.
    mutating func endGathering(by moment: MonotonicTime) {
        let due = gathering.prefix { $0.end <= moment }
        guard !due.isEmpty else { return }
        gathering.removeFirst(due.count)
        for entry in due { change(entry.device) { stream in stream.endGathering(by: moment) } }
    }

    /// When to look again for what was kept back long enough; nil when nothing is.
    var nextGatheringEnd: MonotonicTime? { gathering.first?.end }

    // MARK: Reading

    /// Takes out what goes out now.
    mutating func takeOutgoing(now: Int64, _ deliver: ([PendingNotification], ReplyAddress) -> Void) {
        for stream in outgoing where !stream.isClosed {
            let notifications = stream.takeOutgoing(now: now)
            if !notifications.isEmpty { deliver(notifications, stream.address) }
        }
        outgoing.removeAll(keepingCapacity: true)
    }

    /// Takes out the devices whose table should be read.
    mutating func takeHungry() -> [DeviceID] {
        defer { hungry = [] }
        return hungry
    }

    /// The stream of a device that should be read for now.
    func hungryStream(of device: DeviceID) -> DeviceStream? {
        guard let stream = byDevice[device], stream.isHungry else { return nil }
        return stream
    }

    /// Gives a device's stream what was read for it; see `DeviceStream.refill`.
    ///
    /// - Parameters:
    ///   - device: The device, which goes back in line if its stream has still room.
    ///   - read: The next rows, in order.
    ///   - last: The sequence up to which the table was read.
    ///   - isComplete: Whether nothing is left there.
    /// - Returns: Now-or-never ones that found no room after all.
    mutating func refill(
        _ device: DeviceID, _ read: [PendingNotification], through last: Int64, isComplete: Bool
    ) -> [DeviceStream.NowOrNever] {
        let late = change(device) { stream in stream.refill(read, through: last, isComplete: isComplete) }
        if byDevice[device]?.isHungry == true { hungry.append(device) }
        return late ?? []
    }

    /// Puts a device back in line.
    mutating func postpone(_ device: DeviceID) { hungry.append(device) }

    /// Changes a stream, and puts it in line for what it wants then.
    @discardableResult
    private mutating func change<Result>(_ device: DeviceID, _ body: (DeviceStream) -> Result) -> Result? {
        byDevice[device].map { stream in change(stream, body) }
    }

    @discardableResult
    private mutating func change<Result>(_ stream: DeviceStream, _ body: (DeviceStream) -> Result) -> Result {
        let (hadOutgoing, wasHungry, end) = (!stream.outgoing.isEmpty, stream.isHungry, stream.gatheringEnd)
        let result = body(stream)
        if end == nil, let end = stream.gatheringEnd { gathering.append((stream.device, end)) }
        if !hadOutgoing, !stream.outgoing.isEmpty { outgoing.append(stream) }
        if !wasHungry, stream.isHungry { hungry.append(stream.device) }
        return result
    }
}
