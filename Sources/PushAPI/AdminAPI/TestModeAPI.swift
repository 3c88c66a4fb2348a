// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// The JSON bodies of the admin API that only a server for tests has.
public enum TestModeAPI {
    /// The body of `POST /v1/ephemeral/fail`.
    public struct Fail: Codable, Sendable {
        /// The rejection reason to answer with, for example `TooManyRequests`.
        public var reason: String
        /// The number of next responses that fail; 1 when nil.
        public var count: Int?

        public init(reason: String, count: Int? = nil) {
            self.reason = reason
            self.count = count
        }
    }

    /// The response of `GET /v1/ephemeral/notifications`.
    public struct Received: Codable, Sendable {
        /// The notifications, in the order in which the built-in devices received them.
        public var notifications: [ReceivedNotification]

        public init(notifications: [ReceivedNotification]) { self.notifications = notifications }
    }

    /// One notification that a built-in device received.
    public struct ReceivedNotification: Codable, Sendable {
        /// The registered topic.
        public var topic: TopicName
        /// The device token that the notification was sent to.
        public var token: String
        /// The device that received it.
        public var deviceID: String
        /// The provider's `apns-*` headers; `apns-id` and `apns-unique-id` are always present.
        public var headers: [String: String]
        /// The payload as text, byte for byte.
        public var payload: String
        /// The time of receipt.
        public var receivedAt: Timestamp { Timestamp(unixMilliseconds: receivedMilliseconds) }
        private var receivedMilliseconds: Int64

        public init(
            topic: TopicName, token: String, deviceID: String, headers: [String: String], payload: String,
            receivedAt: Timestamp
        ) {
            self.topic = topic
            self.token = token
            self.deviceID = deviceID
            self.headers = headers
            self.payload = payload
            receivedMilliseconds = receivedAt.unixMilliseconds
        }

        private enum CodingKeys: String, CodingKey {
            case topic, token, headers, payload
            case deviceID = "device_id"
            case receivedMilliseconds = "received_at"
        }
    }

    /// The line that `posthornd --ephemeral` prints when it is ready.
    public struct Ephemeral: Codable, Sendable {
        /// The host, which is always 127.0.0.1.
        public var host: String
        /// The port for providers and devices.
        public var port: Int
        /// The PEM file of the authority to trust.
        public var caFile: String
        /// The .p8 file of the signing key.
        public var keyFile: String
        /// The key ID of the signing key.
        public var keyID: String
        /// The team ID of the signing key.
        public var teamID: String
        /// The path of the admin API's UNIX socket.
        public var adminSocket: String
        /// The topics, one for each `--topic`.
        public var topics: [EphemeralTopic]
        /// All values as the shell variables of `--env-file`; present only with `--full`.
        public var variables: [String: String]?

        public init(
            host: String, port: Int, caFile: String, keyFile: String, keyID: String, teamID: String,
            adminSocket: String, topics: [EphemeralTopic], variables: [String: String]? = nil
        ) {
            self.host = host
            self.port = port
            self.caFile = caFile
            self.keyFile = keyFile
            self.keyID = keyID
            self.teamID = teamID
            self.adminSocket = adminSocket
            self.topics = topics
            self.variables = variables
        }

        private enum CodingKeys: String, CodingKey {
            case host, port, topics, variables
            case caFile = "ca_file"
            case keyFile = "key_file"
            case keyID = "key_id"
            case teamID = "team_id"
            case adminSocket = "admin_socket"
        }
    }

    /// A topic of an ephemeral server.
    public struct EphemeralTopic: Codable, Sendable {
        public var topic: TopicName
        /// A device token that is registered.
        public var token: String
        /// A device token that the server answers with 410 Unregistered.
        public var goneToken: String
        /// The ID of the built-in device.
        public var deviceID: String
        /// The secret of the built-in device.
        public var deviceSecret: String

        public init(topic: TopicName, token: String, goneToken: String, deviceID: String, deviceSecret: String) {
            self.topic = topic
            self.token = token
            self.goneToken = goneToken
            self.deviceID = deviceID
            self.deviceSecret = deviceSecret
        }

        private enum CodingKeys: String, CodingKey {
            case topic, token
            case goneToken = "gone_token"
            case deviceID = "device_id"
            case deviceSecret = "device_secret"
        }
    }
}
