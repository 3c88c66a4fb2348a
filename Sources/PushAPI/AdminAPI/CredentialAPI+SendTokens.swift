// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension CredentialAPI {
    /// The body of `POST /v1/send-tokens`.
    public struct NewSendToken: Codable, Sendable {
        public var topic: TopicName
        /// The purpose; nil for none.
        public var name: String?
        /// The last second in which the token is valid; nil for no end.
        public var expiresAt: Timestamp?

        public init(topic: TopicName, name: String?, expiresAt: Timestamp?) {
            self.topic = topic
            self.name = name
            self.expiresAt = expiresAt
        }

        private enum CodingKeys: String, CodingKey {
            case topic, name
            case expiresAt = "expires_at"
        }
    }

    /// A token with which a script sends to one app.
    public struct SendToken: Codable, Equatable, Sendable {
        /// Eight lower-case hexadecimal digits: the beginning of the token's hash.
        public var id: String
        public var topic: TopicName
        /// The purpose; may be empty.
        public var name: String
        public var createdAt: Timestamp
        /// The last second in which the token is valid; nil for no end.
        public var expiresAt: Timestamp?
        /// The token itself, only in the response to its creation.
        public var token: String?
        /// The URL of the server, only in the response to the creation.
        public var serverURL: String?
        /// The file of the authority that scripts must trust, only in the response to the creation; nil if the server's
        /// certificate is configured.
        public var caFile: String?

        public init(id: String, topic: TopicName, name: String, createdAt: Timestamp, expiresAt: Timestamp?) {
            self.id = id
            self.topic = topic
            self.name = name
            self.createdAt = createdAt
            self.expiresAt = expiresAt
        }

        private enum CodingKeys: String, CodingKey {
            case id, topic, name, token
            case createdAt = "created_at"
            case expiresAt = "expires_at"
            case serverURL = "server_url"
            case caFile = "ca_file"
        }
    }

    /// The response of `GET /v1/send-tokens`.
    public struct SendTokens: Codable, Sendable {
        /// The tokens, oldest first.
        public var tokens: [SendToken]

        public init(tokens: [SendToken]) { self.tokens = tokens }
    }
}
