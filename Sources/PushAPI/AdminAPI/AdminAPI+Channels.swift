// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension AdminAPI {
    /// The body of `POST /v1/apps/{topic}/channels`.
    public struct NewChannel: Codable, Sendable {
        /// The environment of the channel; production when nil.
        public var environment: Environment?
        /// The broadcasts that the channel stores for disconnected devices; the last broadcast when nil.
        public var messageStoragePolicy: MessageStoragePolicy?

        public init(environment: Environment? = nil, messageStoragePolicy: MessageStoragePolicy? = nil) {
            self.environment = environment
            self.messageStoragePolicy = messageStoragePolicy
        }

        private enum CodingKeys: String, CodingKey {
            case environment
            case messageStoragePolicy = "message_storage_policy"
        }
    }

    /// A broadcast channel in the responses of `/v1/apps/{topic}/channels`.
    public struct Channel: Codable, Sendable {
        /// The channel ID in base64.
        public var channelID: String
        public var topic: TopicName
        public var environment: Environment
        /// The broadcasts that the channel stores for disconnected devices.
        public var messageStoragePolicy: MessageStoragePolicy
        /// The time of creation.
        public var createdAt: Timestamp
        /// The number of subscribed devices.
        public var subscriptionCount: Int

        public init(
            channelID: String, topic: TopicName, environment: Environment, messageStoragePolicy: MessageStoragePolicy,
            createdAt: Timestamp, subscriptionCount: Int
        ) {
            self.channelID = channelID
            self.topic = topic
            self.environment = environment
            self.messageStoragePolicy = messageStoragePolicy
            self.createdAt = createdAt
            self.subscriptionCount = subscriptionCount
        }

        private enum CodingKeys: String, CodingKey {
            case topic, environment
            case channelID = "channel_id"
            case messageStoragePolicy = "message_storage_policy"
            case createdAt = "created_at"
            case subscriptionCount = "subscription_count"
        }
    }

    /// The response of `GET /v1/apps/{topic}/channels`.
    public struct Channels: Codable, Sendable {
        /// The channels, oldest first.
        public var channels: [Channel]

        public init(channels: [Channel]) { self.channels = channels }
    }
}
