// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A notification that a device received on its stream.
package struct ReceivedNotification: Sendable, Equatable {
    /// The server's number of the notification, by which the device acknowledges it; 0 is not acknowledged.
    package var sequence: Int64
    /// The server's ID of the notification, which is never reused; the device detects duplicates by it.
    package var uniqueID: UniqueID
    /// The `apns-topic` as the provider sent it.
    package var suffixedTopic: String
    /// The registered topic, without the push type's suffix; nil if the server did not send it.
    package var app: TopicName?
    /// The `apns-id` as the provider sent it.
    package var apnsID: String
    /// The `apns-push-type`; nil if the provider sent none, which means alert.
    package var pushType: PushType?
    /// The `apns-priority`: 10, 5 or 1; nil if the provider sent none, which means 10.
    package var priority: UInt8?
    /// The `apns-expiration`; 0 means now or never, and nil means that the provider sent none (30 days).
    package var expiration: Timestamp?
    /// The `apns-collapse-id`, 1 to 64 bytes.
    package var collapseID: [UInt8]?
    /// The time of acceptance by the server.
    package var acceptedAt: Timestamp
    /// The payload, byte for byte as the provider sent it.
    package var payload: [UInt8]
    /// The channel of a broadcast; nil for a notification to this device only.
    package var channel: ChannelID?

    package init(
        sequence: Int64, uniqueID: UniqueID, suffixedTopic: String, app: TopicName?, apnsID: String,
        pushType: PushType?,
        priority: UInt8?, expiration: Timestamp?, collapseID: [UInt8]?, acceptedAt: Timestamp,
        payload: [UInt8], channel: ChannelID? = nil
    ) {
        self.sequence = sequence
        self.uniqueID = uniqueID
        self.suffixedTopic = suffixedTopic
        self.app = app
        self.apnsID = apnsID
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.acceptedAt = acceptedAt
        self.payload = payload
        self.channel = channel
    }
}
