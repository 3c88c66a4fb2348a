// SPDX-License-Identifier: Apache-2.0

/// A notification as a device reads it from its stream.
package struct ReceivedNotification: Sendable, Equatable {
    /// The position in the device's queue, which is what it acknowledges; 0 for one that is not acknowledged.
    package var sequence: Int64
    /// The id by which a notification is known again; never used twice.
    package var uniqueID: UniqueID
    /// `apns-topic` as the provider wrote it.
    package var topicName: String
    /// The registered topic, without the push type's suffix; nil when the server did not say.
    package var app: String?
    /// `apns-id` as the provider wrote it.
    package var apnsID: String
    /// `apns-push-type`; nil when the provider gave none, which means alert.
    package var pushType: PushType?
    /// `apns-priority`: 10, 5 or 1; nil when the provider gave none, which means 10.
    package var priority: UInt8?
    /// `apns-expiration`: 0 is now or never; nil when the provider gave none, which means 30 days.
    package var expirationUnixSeconds: Int64?
    /// `apns-collapse-id`, 1 to 64 bytes.
    package var collapseID: [UInt8]?
    /// When the server accepted it.
    package var acceptedUnixMilliseconds: Int64
    /// The payload, byte for byte as the provider sent it.
    package var payload: [UInt8]
    /// The channel of a broadcast; nil for what was sent to this device alone.
    package var channel: ChannelID?

    /// Joins the parts.
    package init(
        sequence: Int64, uniqueID: UniqueID, topicName: String, app: String?, apnsID: String, pushType: PushType?,
        priority: UInt8?, expirationUnixSeconds: Int64?, collapseID: [UInt8]?, acceptedUnixMilliseconds: Int64,
        payload: [UInt8], channel: ChannelID? = nil
    ) {
        self.sequence = sequence
        self.uniqueID = uniqueID
        self.topicName = topicName
        self.app = app
        self.apnsID = apnsID
        self.pushType = pushType
        self.priority = priority
        self.expirationUnixSeconds = expirationUnixSeconds
        self.collapseID = collapseID
        self.acceptedUnixMilliseconds = acceptedUnixMilliseconds
        self.payload = payload
        self.channel = channel
    }
}
