// SPDX-License-Identifier: Apache-2.0

extension AdminAPI {
    /// The body of `POST /v1/ephemeral/fail`.
    public struct Fail: Codable, Sendable {
        /// The reason, for example `TooManyRequests`.
        public var reason: String
        /// How many of the next answers; 1 when nil.
        public var count: Int?

        /// Joins the parts.
        public init(reason: String, count: Int? = nil) {
            self.reason = reason
            self.count = count
        }
    }

    /// The answer of `GET /v1/ephemeral/notifications`.
    public struct Received: Codable, Sendable {
        /// In the order in which the built-in devices got them.
        public var notifications: [ReceivedNotification]

        /// Takes the list.
        public init(notifications: [ReceivedNotification]) { self.notifications = notifications }
    }

    /// One notification that a built-in device got.
    public struct ReceivedNotification: Codable, Sendable {
        /// The registered topic.
        public var topic: String
        /// The device token it was sent to.
        public var token: String
        /// The device that got it.
        public var deviceID: String
        /// The provider's `apns-*` headers, with `apns-id` and `apns-unique-id` always present.
        public var headers: [String: String]
        /// The payload as text, byte for byte.
        public var payload: String
        /// When the device got it, UNIX milliseconds.
        public var receivedAt: Int64

        /// Joins the parts.
        public init(
            topic: String, token: String, deviceID: String, headers: [String: String], payload: String,
            receivedAt: Int64
        ) {
            self.topic = topic
            self.token = token
            self.deviceID = deviceID
            self.headers = headers
            self.payload = payload
            self.receivedAt = receivedAt
        }

        private enum CodingKeys: String, CodingKey {
            case topic, token, headers, payload
            case deviceID = "device_id"
            case receivedAt = "received_at"
        }
    }

    /// The line that `posthornd --ephemeral` prints once it is ready.
    public struct Ephemeral: Codable, Sendable {
        /// Always 127.0.0.1.
        public var host: String
        /// The port for providers and devices.
        public var port: Int
        /// The authority to trust, PEM.
        public var caFile: String
        /// The signing key, .p8.
        public var keyFile: String
        /// Its key id.
        public var keyID: String
        /// Its team id.
        public var teamID: String
        /// The UNIX socket of the admin API.
        public var adminSocket: String
        /// One for each `--topic`.
        public var topics: [EphemeralTopic]
        /// With `--full`: everything, as the shell variables of `--env-file`.
        public var variables: [String: String]?

        /// Joins the parts.
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
        /// The topic.
        public var topic: String
        /// A device token that works.
        public var token: String
        /// A device token that answers 410 Unregistered.
        public var goneToken: String
        /// The built-in device.
        public var deviceID: String
        /// Its secret.
        public var deviceSecret: String

        /// Joins the parts.
        public init(topic: String, token: String, goneToken: String, deviceID: String, deviceSecret: String) {
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
