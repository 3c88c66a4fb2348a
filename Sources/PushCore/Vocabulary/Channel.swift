// SPDX-License-Identifier: Apache-2.0

/// The ID of a broadcast channel; random and never reused.
public struct ChannelID: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    public let high: UInt64
    /// The last eight bytes, big-endian.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// The broadcasts that a channel stores for disconnected devices; the raw values are Apple's.
public enum MessageStoragePolicy: Int, CaseIterable, Codable, Sendable {
    /// The channel stores nothing; a broadcast reaches connected devices only.
    case noMessageStored = 0
    /// The channel stores the last broadcast, for at most `Limits.broadcastStorageSecondsMax`.
    case mostRecentMessageStored = 1
}

/// A validated broadcast: one payload for every device that subscribed to a channel.
public struct Broadcast: Sendable {
    public var channel: ChannelID
    /// The app that owns the channel.
    public var topic: TopicID
    /// The environment of the request; the server does not find a channel of the other environment.
    public var environment: Environment
    /// The `apns-request-id` as the provider sent it, 36 bytes of ASCII; the server creates one when it is absent.
    public var requestID: [UInt8]
    /// The server's own ID of the broadcast, which is never reused; devices detect duplicates by it.
    public var uniqueID: UniqueID
    /// The app's topic with the suffix of push type liveactivity.
    public var suffixedTopic: String
    /// The `apns-priority`: 10, 5 or 1; nil if the provider sent none.
    public var priority: UInt8?
    /// The `apns-expiration`; 0 means that the server delivers now or never.
    ///
    /// Other values occur only for a channel that stores broadcasts.
    public var expiration: Timestamp
    /// The payload, byte for byte as received.
    public var payload: [UInt8]
    /// The time of acceptance by the server.
    public var acceptedAt: Timestamp

    public init(
        channel: ChannelID, topic: TopicID, environment: Environment, requestID: [UInt8], uniqueID: UniqueID,
        suffixedTopic: String, priority: UInt8?, expiration: Timestamp, payload: [UInt8], acceptedAt: Timestamp
    ) {
        self.channel = channel
        self.topic = topic
        self.environment = environment
        self.requestID = requestID
        self.uniqueID = uniqueID
        self.suffixedTopic = suffixedTopic
        self.priority = priority
        self.expiration = expiration
        self.payload = payload
        self.acceptedAt = acceptedAt
    }
}
