// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// The body of `POST /v1/apps/{topic}/channels`.
    public struct NewChannel: Codable, Sendable {
        /// The environment; production when nil.
        public var environment: Environment?
        /// What it keeps for devices that are not connected; the last broadcast when nil.
        public var messageStoragePolicy: MessageStoragePolicy?

        /// Joins the parts.
        public init(environment: Environment? = nil, messageStoragePolicy: MessageStoragePolicy? = nil) {
            self.environment = environment
            self.messageStoragePolicy = messageStoragePolicy
        }

        private enum CodingKeys: String, CodingKey {
            case environment
            case messageStoragePolicy = "message_storage_policy"
        }
    }

    /// A broadcast channel, in answers of `/v1/apps/{topic}/channels`.
    public struct Channel: Codable, Sendable {
        /// Its id, base64.
        public var channelID: String
        /// The app.
        public var topic: String
        /// The environment.
        public var environment: Environment
        /// What it keeps for devices that are not connected.
        public var messageStoragePolicy: MessageStoragePolicy
        /// When it was made, UNIX seconds.
        public var createdAt: Int64
        /// Devices that subscribed.
        public var subscriptionCount: Int

        /// Joins the parts.
        public init(
            channelID: String, topic: String, environment: Environment, messageStoragePolicy: MessageStoragePolicy,
            createdAt: Int64, subscriptionCount: Int
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

    /// The answer of `GET /v1/apps/{topic}/channels`.
    public struct Channels: Codable, Sendable {
        /// Oldest first.
        public var channels: [Channel]

        /// Takes the list.
        public init(channels: [Channel]) { self.channels = channels }
    }
}
