// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The open streams of all devices.
struct Streams {
    private var byDevice: [DeviceID: DeviceStream] = [:]
    private var deviceByAddress: [ReplyAddress: DeviceID] = [:]
    /// Devices with something to hand out; may name one twice, or one that is gone.
    private var outgoing: [DeviceID] = []
    /// Devices whose table should be read, in turn; may name one twice, or one that is gone.
    private var hungry: [DeviceID] = []

    /// How many streams are open.
    var count: Int { byDevice.count }

    /// Whether a stream waits for `nextHungry`.
    var hasHungry: Bool { !hungry.isEmpty }

    /// The devices whose streams are open.
    var openDevices: some Collection<DeviceID> { byDevice.keys }

    /// Whether a device's stream is open.
    func isOpen(_ device: DeviceID) -> Bool { byDevice[device] != nil }

    /// Opens a device's stream; returns the one that it replaces.
    mutating func attach(_ device: DeviceID, _ address: ReplyAddress) -> DeviceStream? {
        let earlier = remove(device)
        byDevice[device] = DeviceStream(address: address)
        deviceByAddress[address] = device
        hungry.append(device)
        return earlier
    }

    /// The device whose stream has an address; nil once another stream took over.
    func device(at address: ReplyAddress) -> DeviceID? { deviceByAddress[address] }

    /// Closes a device's stream; returns it.
    mutating func remove(_ device: DeviceID) -> DeviceStream? {
        guard let stream = byDevice.removeValue(forKey: device) else { return nil }
        deviceByAddress[stream.address] = nil
        return stream
    }

    /// Shows a stored notification to its device's stream.
    mutating func offer(_ pending: PendingNotification) {
        let device = pending.notification.address.device
        guard byDevice[device] != nil else { return }
        change(device) { stream in stream.offer(pending) }
    }

    /// Gives one that is now or never to its device's stream; false when it found none with room.
    mutating func offerNow(_ notification: Notification, after: Int64) -> Bool {
        let device = notification.address.device
        guard byDevice[device] != nil else { return false }
        return change(device) { stream in stream.offerNow(notification, after: after) } ?? false
    }

    /// Tells a device's stream that a notification is gone from the table.
    mutating func forget(_ sequence: Int64, of device: DeviceID) {
        guard byDevice[device] != nil else { return }
        change(device) { stream in stream.forget(sequence) }
    }

    /// Drops what would go out and is of a kind, on a device or on all.
    ///
    /// - Parameters:
    ///   - device: The device; all when nil.
    ///   - isOfKind: Whether one is dropped.
    /// - Returns: How many of it were now or never, without broadcasts.
    mutating func dropOutgoing(on device: DeviceID?, where isOfKind: (Notification) -> Bool) -> Int {
        var neverCount = 0
        for device in device.map({ [$0] }) ?? (outgoing + hungry) {
            neverCount += change(device) { stream in stream.dropOutgoing(where: isOfKind) } ?? 0
        }
        return neverCount
    }

    /// Takes out what goes out now.
    mutating func takeOutgoing(now: Int64, _ deliver: ([PendingNotification], ReplyAddress) -> Void) {
        for device in outgoing {
            guard let address = byDevice[device]?.address else { continue }
            let notifications = byDevice[device]?.takeOutgoing(now: now) ?? []
            if !notifications.isEmpty { deliver(notifications, address) }
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
    /// - Returns: How many now-or-never ones found no room after all.
    mutating func refill(
        _ device: DeviceID, _ read: [PendingNotification], through last: Int64, isComplete: Bool
    ) -> Int {
        let lateCount = change(device) { stream in stream.refill(read, through: last, isComplete: isComplete) }
        if byDevice[device]?.isHungry == true { hungry.append(device) }
        return lateCount ?? 0
    }

    /// Puts a device back in line.
    mutating func postpone(_ device: DeviceID) { hungry.append(device) }

    /// Changes a stream in place, and puts its device in line for what it wants then.
    @discardableResult
    private mutating func change<Result>(_ device: DeviceID, _ body: (inout DeviceStream) -> Result) -> Result? {
        guard let index = byDevice.index(forKey: device) else { return nil }
        let (hadOutgoing, wasHungry) = (!byDevice.values[index].outgoing.isEmpty, byDevice.values[index].isHungry)
        let result = body(&byDevice.values[index])
        if !hadOutgoing, !byDevice.values[index].outgoing.isEmpty { outgoing.append(device) }
        if !wasHungry, byDevice.values[index].isHungry { hungry.append(device) }
        return result
    }
}
