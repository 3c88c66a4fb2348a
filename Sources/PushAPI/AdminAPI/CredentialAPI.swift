// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// The JSON bodies of the admin API about credentials: keys, certificates and enrolment codes.
public enum CredentialAPI {
    /// The body of `POST /v1/keys`.
    public struct NewKey: Codable, Sendable {
        /// The team that owns the key; the server's own team when nil.
        public var teamID: String?
        /// The topics that the key may send to; every topic of the team when nil.
        public var topics: [TopicName]?
        /// The environment that the key is valid for; both when nil.
        public var environment: Environment?

        public init(teamID: String? = nil, topics: [TopicName]? = nil, environment: Environment? = nil) {
            self.teamID = teamID
            self.topics = topics
            self.environment = environment
        }

        private enum CodingKeys: String, CodingKey {
            case topics, environment
            case teamID = "team_id"
        }
    }

    /// A signing key in the responses of `/v1/keys`.
    public struct Key: Codable, Sendable {
        /// The key ID: ten characters of A-Z and 0-9.
        public var keyID: String
        /// The team ID: ten characters of A-Z and 0-9.
        public var teamID: String
        /// The topics that the key may send to; nil for every topic of the team.
        public var topics: [TopicName]?
        /// The time of creation.
        public var createdAt: Timestamp
        /// The time of revocation; nil while the key is valid.
        public var revokedAt: Timestamp?
        /// The private key in the format of a .p8 file (PKCS#8 PEM).
        ///
        /// Only the response that creates the key contains it. The server never stores it.
        public var privateKey: String?
        /// The environment that the key is valid for; nil for both.
        public var environment: Environment?

        public init(
            keyID: String, teamID: String, topics: [TopicName]?, createdAt: Timestamp, revokedAt: Timestamp? = nil,
            privateKey: String? = nil, environment: Environment? = nil
        ) {
            self.keyID = keyID
            self.teamID = teamID
            self.topics = topics
            self.createdAt = createdAt
            self.revokedAt = revokedAt
            self.privateKey = privateKey
            self.environment = environment
        }

        private enum CodingKeys: String, CodingKey {
            case topics, environment
            case keyID = "key_id"
            case teamID = "team_id"
            case createdAt = "created_at"
            case revokedAt = "revoked_at"
            case privateKey = "private_key"
        }
    }

    /// The response of `GET /v1/keys`.
    public struct Keys: Codable, Sendable {
        /// The keys, oldest first.
        public var keys: [Key]

        public init(keys: [Key]) { self.keys = keys }
    }
}
