// SPDX-License-Identifier: Apache-2.0

/// A validated notification, as the server stores it and sends it to the device.
///
/// It is a class because many components share one immutable instance between the provider and the device.
public final class Notification: Sendable {
    /// The destination: device, app and registration generation.
    public let address: DeviceTokenContents
    /// The `apns-id` as the provider sent it, 36 bytes of ASCII; the server creates one when it is absent.
    public let apnsID: [UInt8]
    /// The server's own ID, which unlike `apnsID` is never reused; devices detect duplicates by it.
    public let uniqueID: UniqueID
    /// The `apns-topic` as the provider sent it: the app's topic with the push type's suffix.
    public let suffixedTopic: String
    /// The `apns-push-type`; nil if the provider sent none, which means alert.
    public let pushType: PushType?
    /// The `apns-priority`: 10, 5 or 1; nil if the provider sent none, which means 10.
    public let priority: UInt8?
    /// The `apns-expiration`.
    ///
    /// 0 means that the server delivers now or never. nil means that the provider sent none, which stands for 30 days.
    public let expiration: Timestamp?
    /// The `apns-collapse-id`, at most 64 bytes.
    public let collapseID: [UInt8]?
    /// The payload, byte for byte as received.
    public let payload: [UInt8]
    /// The time of acceptance by the server.
    public let acceptedAt: Timestamp
    /// The channel of a broadcast; nil for a notification to one device.
    public let channel: ChannelID?

    public init(
        address: DeviceTokenContents, apnsID: [UInt8], uniqueID: UniqueID, suffixedTopic: String, pushType: PushType?,
        priority: UInt8?, expiration: Timestamp?, collapseID: [UInt8]?, payload: [UInt8],
        acceptedAt: Timestamp, channel: ChannelID? = nil
    ) {
        self.address = address
        self.apnsID = apnsID
        self.uniqueID = uniqueID
        self.suffixedTopic = suffixedTopic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
        self.acceptedAt = acceptedAt
        self.channel = channel
    }
}

extension Notification {
    /// Whether the provider allows a delay to save power, which is true for priorities 5 and 1.
    public var allowsDelay: Bool { (priority ?? 10) < 10 }

    /// Returns a copy of the notification with another destination.
    public func addressed(to address: DeviceTokenContents) -> Notification {
        Notification(
            address: address, apnsID: apnsID, uniqueID: uniqueID, suffixedTopic: suffixedTopic, pushType: pushType,
            priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            acceptedAt: acceptedAt, channel: channel)
    }
}

extension Notification {
    /// Returns a copy of the notification that is a broadcast of a channel.
    public func published(in channel: ChannelID) -> Notification {
        Notification(
            address: address, apnsID: apnsID, uniqueID: uniqueID, suffixedTopic: suffixedTopic, pushType: pushType,
            priority: priority, expiration: expiration, collapseID: collapseID, payload: payload,
            acceptedAt: acceptedAt, channel: channel)
    }
}

/// A notification in the form in which the store passes it to a device's stream.
public struct PendingNotification: Sendable {
    /// The server's ascending number of the notification, by which the device acknowledges it; at least 1.
    public var sequence: Int64
    public var notification: Notification

    public init(sequence: Int64, notification: Notification) {
        self.sequence = sequence
        self.notification = notification
    }
}
