// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// What the writer keeps in memory: streams, counts and the outbox; changed by committed events only.
struct Ledger {
    private(set) var streams = Streams()
    private(set) var tally: Tally
    private var outbox: Outbox

    init(tally: Tally, receivers: [any StoreReplyReceiver]) {
        self.tally = tally
        outbox = Outbox(receivers: receivers)
    }

    /// Lets committed events come true, in order; the answers wait for `handOut`.
    mutating func apply(_ events: [StoreEvent]) {
        for event in events { apply(event) }
    }

    /// Refuses a command because of the disk.
    mutating func refuse(_ command: StoreCommand, _ text: String) {
        if case .detach(let stream) = command {
            close(streams.detach(stream))
        } else if let (reply, address) = StoreReply.unavailable(command, text) {
            outbox.add(reply, to: address)
        }
    }

    /// Refuses one that nobody had time for.
    mutating func shed(_ answer: ReplyAddress) {
        outbox.add(.refused(.serviceUnavailable, unregisteredUnixMilliseconds: nil, answer: answer), to: answer)
    }

    /// Hands out all answers and then all deliveries.
    mutating func handOut(now: Int64) {
        streams.takeOutgoing(now: now) { notifications, address in
            outbox.add(.deliver(notifications, stream: address), to: address)
        }
        outbox.handOut()
    }

    /// Hands a directory to all loops.
    func publish(_ directory: Directory) { outbox.publish(directory) }

    /// Takes out the devices whose table should be read.
    mutating func takeHungry() -> [DeviceID] { streams.takeHungry() }

    /// Puts a device back in line.
    mutating func postpone(_ device: DeviceID) { streams.postpone(device) }

    /// Gives a device's stream what was read for it, up to a sequence.
    mutating func refill(_ device: DeviceID, _ read: [PendingNotification], through last: Int64, isComplete: Bool) {
        let lateCount = streams.refill(device, read, through: last, isComplete: isComplete)
        tally.addGone(.expired, count: lateCount)
    }

    private mutating func apply(_ event: StoreEvent) {
        switch event {
        case .reply(let reply): add(reply)
        case .stored, .nowOrNever, .acceptedNotStored, .removed, .outcome: applyNotification(event)
        case .attach, .detach, .silence: applyStream(event)
        case .deviceAdded, .deviceRemoved, .registrationBegan, .registrationEnded, .appAdded, .appRemoved:
            applyDirectory(event)
        case .counts, .app, .apps, .device, .devices: answer(event)
        }
    }

    private mutating func applyNotification(_ event: StoreEvent) {
        switch event {
        case .stored(let pending, let answer):
            tally.addAccepted()
            tally.addPending(of: pending.notification.address.topic)
            outbox.add(.accepted(answer: answer), to: answer)
            streams.offer(pending)
        case .nowOrNever(let notification, let after, let answer):
            tally.addAccepted()
            outbox.add(.accepted(answer: answer), to: answer)
            if !streams.offerNow(notification, after: after) { tally.addGone(.expired) }
        case .acceptedNotStored(let removal, let answer):
            tally.addAccepted()
            tally.addGone(removal)
            outbox.add(.accepted(answer: answer), to: answer)
        case .removed(let removed, let removal):
            tally.removePending(of: removed.topic, removal)
            streams.forget(removed.sequence, of: removed.device)
        case .outcome(let outcome): tally.add(outcome)
        default: preconditionFailure("not about a notification: apply(_:) sorts events")
        }
    }

    private mutating func applyStream(_ event: StoreEvent) {
        switch event {
        case .attach(let device, let stream):
            let earlier = streams.attach(device, stream)
            close(earlier)
            if let earlier { outbox.add(.ended(.replaced, stream: earlier.address), to: earlier.address) }
            outbox.add(.attached(device, stream: stream), to: stream)
        case .detach(let stream): close(streams.detach(stream))
        case .silence(let topic, let device):
            tally.addGone(.expired, count: streams.dropOutgoing(of: topic, on: device))
        default: preconditionFailure("not about a stream: apply(_:) sorts events")
        }
    }

    private mutating func applyDirectory(_ event: StoreEvent) {
        switch event {
        case .deviceAdded: tally.addDevices(1)
        case .deviceRemoved(let device):
            tally.addDevices(-1)
            let stream = streams.remove(device)
            close(stream)
            if let stream { outbox.add(.ended(.removed, stream: stream.address), to: stream.address) }
        case .registrationBegan(let topic): tally.addRegistrations(1, of: topic)
        case .registrationEnded(let topic): tally.addRegistrations(-1, of: topic)
        case .appAdded: tally.addApps(1)
        case .appRemoved(let topic):
            tally.addApps(-1)
            tally.endRegistrations(of: topic)
        default: preconditionFailure("not about a device or app: apply(_:) sorts events")
        }
    }

    /// Answers from what is in memory at this point of the order.
    private mutating func answer(_ event: StoreEvent) {
        switch event {
        case .counts(let answer): perform(.counts(tally.counts(devicesConnected: streams.count)), answer)
        case .app(let row, let answer): perform(.app(tally.app(row)), answer)
        case .apps(let rows, let answer): perform(.apps(rows.map(tally.app)), answer)
        case .device(let device, let id, let answer): perform(.device(completed(device, id)), answer)
        case .devices(let devices, let answer): perform(.devices(devices.map(completed)), answer)
        default: preconditionFailure("not a question: apply(_:) sorts events")
        }
    }

    private func completed(_ device: AdminAPI.Device, _ id: DeviceID) -> AdminAPI.Device {
        var device = device
        device.connected = streams.isOpen(id)
        return device
    }

    private mutating func perform(_ answer: StoreAnswer, _ address: ReplyAddress) {
        outbox.add(.performed(.success(answer), answer: address), to: address)
    }

    /// Counts what a stream that is gone would have delivered now or never.
    private mutating func close(_ stream: DeviceStream?) {
        if let stream { tally.addGone(.expired, count: stream.nowOrNeverCount) }
    }

    private mutating func add(_ reply: StoreReply) {
        switch reply {
        case .accepted(let address), .refused(_, _, let address), .attached(_, let address),
            .deliver(_, let address), .ended(_, let address), .performed(_, let address):
            outbox.add(reply, to: address)
        case .directory(let directory): outbox.publish(directory)
        }
    }
}
