// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The devices of an ephemeral server, which acknowledge and keep the notifications that they receive.
///
/// They attach to the store like any other device.
final class BuiltInDevices {
    /// A slot that no connection has.
    static let slot = UInt32.max
    /// The interval at which a device that lost its stream checks whether it can have the stream again.
    private static let takeoverInterval = Duration.milliseconds(100)

    /// A device with the values that a test needs.
    struct Device {
        let id: DeviceID
        let secret: DeviceSecret
        let topic: String
        let token: String
    }

    private unowned let loop: ServerLoop
    private let devices: [Device]
    /// Called when the last device is attached.
    var onAttached: () -> Void = {}
    private var attachedCount = 0
    /// The received notifications, oldest first.
    private(set) var received: [AdminAPI.ReceivedNotification] = []

    init(_ devices: [Device], loop: ServerLoop) {
        self.devices = devices
        self.loop = loop
    }

    /// Opens the streams of the devices.
    func attach() {
        for index in devices.indices { attach(index) }
    }

    private func attach(_ index: Int) {
        loop.submit(.attach(secretHash: devices[index].secret.hash, stream: address(of: index)))
    }

    func attached() {
        attachedCount += 1
        if attachedCount == devices.count { onAttached() }
    }

    func deliver(_ notifications: [PendingNotification], to address: ReplyAddress) {
        let device = devices[Int(address.exchange)]
        for pending in notifications { keep(pending.notification, device) }
        let acknowledged = notifications.filter { $0.sequence > 0 }
            .map { DeviceAPI.Acknowledgement(id: $0.sequence, outcome: .delivered) }
        guard !acknowledged.isEmpty else { return }
        loop.submit(.perform(.acknowledge(secretHash: device.secret.hash, acknowledged), answer: address))
    }

    func performed(_ result: Result<StoreAnswer, StoreRefusal>, _ address: ReplyAddress) {
        switch result {
        case .success(.device(let device)): device.connected ? ended(address) : attach(Int(address.exchange))
        case .success: break
        case .failure(let refusal): loop.context.log.error("built_in_device_refused", ["reason": refusal.word])
        }
    }

    /// Waits until another client that uses the device's secret has disconnected, then takes over again.
    func ended(_ address: ReplyAddress) {
        let device = devices[Int(address.exchange)].id
        loop.events.schedule(after: Self.takeoverInterval) { [weak self] in
            self?.loop.submit(.perform(.device(device), answer: address))
        }
    }

    func forgetReceived() { received = [] }

    private func address(of index: Int) -> ReplyAddress {
        ReplyAddress(loop: loop.index, slot: Self.slot, generation: 0, exchange: Int32(index))
    }

    private func keep(_ notification: Notification, _ device: Device) {
        if received.count == Limits.ephemeralNotificationCountMax { received.removeFirst(received.count / 10) }
        received.append(
            AdminAPI.ReceivedNotification(
                topic: device.topic, token: device.token, deviceID: device.id.text,
                headers: Self.headers(of: notification),
                payload: String(decoding: notification.payload, as: UTF8.self),
                receivedAt: WallClock.unixMilliseconds()))
    }

    private static func headers(of notification: Notification) -> [String: String] {
        var headers = [
            "apns-id": String(decoding: notification.apnsID, as: UTF8.self),
            "apns-unique-id": notification.uniqueID.text,
            "apns-topic": notification.topicName,
        ]
        headers["apns-push-type"] = notification.pushType?.rawValue
        headers["apns-priority"] = notification.priority.map(String.init)
        headers["apns-expiration"] = notification.expirationUnixSeconds.map(String.init)
        headers["apns-collapse-id"] = notification.collapseID.map { String(decoding: $0, as: UTF8.self) }
        return headers
    }
}
