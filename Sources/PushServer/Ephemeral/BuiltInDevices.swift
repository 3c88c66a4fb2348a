// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushServing
internal import PushStore

/// The devices of an ephemeral server, which acknowledge and keep the notifications that they receive.
///
/// They attach to the store like any other device.
final class BuiltInDevices {
    /// The interval at which a device that lost its stream checks whether it can have the stream again.
    private static let takeoverInterval = Duration.milliseconds(100)

    /// A device with the values that a test needs.
    struct Device {
        let id: DeviceID
        let secret: DeviceSecret
        let topic: TopicName
        let token: String
    }

    private unowned let loop: ServerLoop
    private let receiverIndex: UInt32
    private let testMode: TestMode
    private let devices: [Device]
    /// Called when the last device is attached.
    var onAttached: () -> Void = {}
    private var attachedCount = 0

    /// Creates the devices on a loop.
    ///
    /// - Parameters:
    ///   - devices: The devices to attach.
    ///   - loop: The loop whose thread they use.
    ///   - index: Their index among the store's receivers.
    ///   - testMode: The owner of their mailbox and of what they receive.
    /// - Throws: `NetError.system` if the kernel has no memory for another descriptor.
    init(_ devices: [Device], loop: ServerLoop, index: UInt32, testMode: TestMode) throws(NetError) {
        self.devices = devices
        self.loop = loop
        receiverIndex = index
        self.testMode = testMode
        try loop.events.attach(testMode.replies) { [unowned self] replies in
            for reply in replies { self.take(reply) }
        }
    }

    private func take(_ reply: StoreReply) {
        switch reply {
        case .attached: attached()
        case .deliver(let notifications, let address): deliver(notifications, to: address)
        case .ended(_, let address): ended(address)
        case .performed(let result, let address): performed(result, address)
        case .accepted, .refused, .broadcast, .directory, .host: break
        }
    }

    /// Opens the streams of the devices.
    func attach() {
        for index in devices.indices { attach(index) }
    }

    private func attach(_ index: Int) {
        loop.submit(.attach(devices[index].secret.credential, stream: address(of: index)))
    }

    private func attached() {
        attachedCount += 1
        if attachedCount == devices.count { onAttached() }
    }

    private func deliver(_ notifications: [PendingNotification], to address: ReplyAddress) {
        let device = devices[Int(address.exchange)]
        for pending in notifications { keep(pending.notification, device) }
        let acknowledged = notifications.map { DeviceAPI.Acknowledgement(id: $0.sequence, outcome: .delivered) }
        guard !acknowledged.isEmpty else { return }
        loop.submit(.perform(.device(.acknowledge(acknowledged), by: device.secret.credential), answer: address))
    }

    private func performed(_ result: Result<StoreAnswer, StoreRefusal>, _ address: ReplyAddress) {
        switch result {
        case .success(.device(let device)): device.connected ? ended(address) : attach(Int(address.exchange))
        case .success: break
        case .failure(let refusal): loop.context.log.error("built_in_device_refused", ["reason": refusal.word])
        }
    }

    /// Waits until another client that uses the device's secret has disconnected, then takes over again.
    private func ended(_ address: ReplyAddress) {
        let device = devices[Int(address.exchange)].id
        loop.events.schedule(after: Self.takeoverInterval) { [weak self] in
            self?.loop.submit(.perform(.administer(device, .describe), answer: address))
        }
    }

    private func address(of index: Int) -> ReplyAddress {
        ReplyAddress(loop: receiverIndex, slot: 0, generation: 0, exchange: Int32(index))
    }

    private func keep(_ notification: Notification, _ device: Device) {
        testMode.received.append(
            TestModeAPI.ReceivedNotification(
                topic: device.topic, token: device.token, deviceID: device.id.text,
                headers: Self.headers(of: notification),
                payload: String(decoding: notification.payload, as: UTF8.self), receivedAt: .now))
    }

    private static func headers(of notification: Notification) -> [String: String] {
        var headers = [
            "apns-id": String(decoding: notification.apnsID, as: UTF8.self),
            "apns-unique-id": notification.uniqueID.text,
            "apns-topic": notification.suffixedTopic,
        ]
        headers["apns-push-type"] = notification.pushType?.rawValue
        headers["apns-priority"] = notification.priority.map(String.init)
        headers["apns-expiration"] = notification.expiration.map { String($0.unixSeconds) }
        headers["apns-collapse-id"] = notification.collapseID.map { String(decoding: $0, as: UTF8.self) }
        return headers
    }
}
