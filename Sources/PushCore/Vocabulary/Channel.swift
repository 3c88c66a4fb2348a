// SPDX-License-Identifier: Apache-2.0

/// A broadcast channel; random, never used again.
public struct ChannelID: Hashable, Sendable {
    /// The first eight bytes.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64

    /// Joins two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// What a channel keeps for devices that are not connected; the numbers are Apple's.
public enum MessageStoragePolicy: Int, CaseIterable, Codable, Sendable {
    /// Nothing: a broadcast is for those who are connected.
    case noMessageStored = 0
    /// The last broadcast, for at most `Limits.broadcastStorageSecondsMax`.
    case mostRecentMessageStored = 1
}

/// A broadcast that passed every check: one payload for every device that subscribed to a channel.
public struct Broadcast: Sendable {
    /// Where it goes.
    public var channel: ChannelID
    /// The app that the channel is of.
    public var topic: TopicID
    /// The environment of the request; a channel of the other one is not found.
    public var environment: Environment
    /// `apns-request-id` as the provider wrote it, 36 bytes of ASCII; made by the server when there was none.
    public var requestID: [UInt8]
    /// Ours: never used twice, by which a device knows a broadcast again.
    public var uniqueID: UniqueID
    /// The app's topic with the suffix of push type liveactivity.
    public var topicName: String
    /// `apns-priority`: 10, 5 or 1; nil when the provider gave none.
    public var priority: UInt8?
    /// `apns-expiration`: 0 is now or never; not 0 only for a channel that stores.
    public var expirationUnixSeconds: Int64
    /// The payload, byte for byte as it came.
    public var payload: [UInt8]
    /// When the server accepted it.
    public var acceptedUnixMilliseconds: Int64

    /// Joins the parts.
    public init(
        channel: ChannelID, topic: TopicID, environment: Environment, requestID: [UInt8], uniqueID: UniqueID,
        topicName: String, priority: UInt8?, expirationUnixSeconds: Int64, payload: [UInt8],
        acceptedUnixMilliseconds: Int64
    ) {
        self.channel = channel
        self.topic = topic
        self.environment = environment
        self.requestID = requestID
        self.uniqueID = uniqueID
        self.topicName = topicName
        self.priority = priority
        self.expirationUnixSeconds = expirationUnixSeconds
        self.payload = payload
        self.acceptedUnixMilliseconds = acceptedUnixMilliseconds
    }
}
