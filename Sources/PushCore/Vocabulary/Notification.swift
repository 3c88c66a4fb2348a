// SPDX-License-Identifier: Apache-2.0

/// A notification that passed every check: what is stored and handed to the device.
///
/// A class, because it is handed on many times between its provider and its device and never changes.
public final class Notification: Sendable {
    /// Where it goes.
    public let address: DeviceTokenContents
    /// `apns-id` as the provider wrote it, 36 bytes of ASCII; made by the server when there was none.
    public let apnsID: [UInt8]
    /// Ours: unlike `apnsID` never used twice, by which a device knows a notification again.
    public let uniqueID: UniqueID
    /// `apns-topic` as the provider wrote it: the app's topic and the push type's suffix.
    public let topicName: String
    /// `apns-push-type`; nil when the provider gave none, which means alert.
    public let pushType: PushType?
    /// `apns-priority`: 10, 5 or 1; nil when the provider gave none, which means 10.
    public let priority: UInt8?
    /// `apns-expiration`: 0 is now or never; nil when the provider gave none, which means 30 days.
    public let expirationUnixSeconds: Int64?
    /// `apns-collapse-id`, at most 64 bytes.
    public let collapseID: [UInt8]?
    /// The payload, byte for byte as it came.
    public let payload: [UInt8]
    /// When the server accepted it.
    public let acceptedUnixMilliseconds: Int64
    /// The channel of a broadcast; nil for what was sent to one device.
    public let channel: ChannelID?

    /// Joins the parts.
    public init(
        address: DeviceTokenContents, apnsID: [UInt8], uniqueID: UniqueID, topicName: String, pushType: PushType?,
        priority: UInt8?, expirationUnixSeconds: Int64?, collapseID: [UInt8]?, payload: [UInt8],
        acceptedUnixMilliseconds: Int64, channel: ChannelID? = nil
    ) {
        self.address = address
        self.apnsID = apnsID
        self.uniqueID = uniqueID
        self.topicName = topicName
        self.pushType = pushType
        self.priority = priority
        self.expirationUnixSeconds = expirationUnixSeconds
        self.collapseID = collapseID
        self.payload = payload
        self.acceptedUnixMilliseconds = acceptedUnixMilliseconds
        self.channel = channel
    }
}

extension Notification {
    /// The same for another device.
    public func addressed(to address: DeviceTokenContents) -> Notification {
        Notification(
            address: address, apnsID: apnsID, uniqueID: uniqueID, topicName: topicName, pushType: pushType,
            priority: priority, expirationUnixSeconds: expirationUnixSeconds, collapseID: collapseID, payload: payload,
            acceptedUnixMilliseconds: acceptedUnixMilliseconds, channel: channel)
    }
}

/// A notification as the store hands it to a device's stream.
public struct PendingNotification: Sendable {
    /// The position in the device's queue, ascending; 0 for one that is delivered now or never and not acknowledged.
    public var sequence: Int64
    /// The notification.
    public var notification: Notification

    /// Joins the parts.
    public init(sequence: Int64, notification: Notification) {
        self.sequence = sequence
        self.notification = notification
    }
}
