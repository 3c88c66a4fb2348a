// SPDX-License-Identifier: Apache-2.0

/// A notification that passed every check: what is stored and handed to the device.
public struct Notification: Sendable {
    /// Where it goes.
    public var address: DeviceTokenContents
    /// `apns-id` as the provider wrote it, 36 bytes of ASCII; made by the server when there was none.
    public var apnsID: [UInt8]
    /// Ours: unlike `apnsID` never used twice, by which a device knows a notification again.
    public var uniqueID: UniqueID
    /// `apns-topic` as the provider wrote it: the app's topic and the push type's suffix.
    public var topicName: String
    /// `apns-push-type`; nil when the provider gave none, which means alert.
    public var pushType: PushType?
    /// `apns-priority`: 10, 5 or 1; nil when the provider gave none, which means 10.
    public var priority: UInt8?
    /// `apns-expiration`: 0 is now or never; nil when the provider gave none, which means 30 days.
    public var expirationUnixSeconds: Int64?
    /// `apns-collapse-id`, at most 64 bytes.
    public var collapseID: [UInt8]?
    /// The payload, byte for byte as it came.
    public var payload: [UInt8]
    /// When the server accepted it.
    public var acceptedUnixMilliseconds: Int64
    /// The channel of a broadcast; nil for what was sent to one device.
    public var channel: ChannelID?

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
