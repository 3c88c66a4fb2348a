// SPDX-License-Identifier: Apache-2.0

public import PushCore

/// The JSON bodies of the admin API, which runs over a UNIX socket; docs/reference/admin-api.md lists the requests.
public enum AdminAPI {
    /// The body of `POST /v1/apps`.
    public struct NewApp: Codable, Sendable {
        /// The topic, for example `com.example.MyApp`.
        public var topic: String
        /// The app's display name; the topic when nil.
        public var name: String?
        /// The team that owns the app; the server's own team when nil.
        public var teamID: String?
        /// The mode of the payload checks; `warn` when nil.
        public var checks: PayloadChecks?
        /// Whether the app may have broadcast channels; false when nil.
        public var broadcasts: Bool?

        public init(
            topic: String, name: String? = nil, teamID: String? = nil, checks: PayloadChecks? = nil,
            broadcasts: Bool? = nil
        ) {
            self.topic = topic
            self.name = name
            self.teamID = teamID
            self.checks = checks
            self.broadcasts = broadcasts
        }

        private enum CodingKeys: String, CodingKey {
            case topic, name, checks, broadcasts
            case teamID = "team_id"
        }
    }

    /// The body of `PATCH /v1/apps/{topic}`; a nil member leaves the value unchanged.
    public struct AppChange: Codable, Sendable {
        /// The app's display name.
        public var name: String?
        /// The mode of the payload checks.
        public var checks: PayloadChecks?
        /// Whether the app may have broadcast channels; false removes the existing ones.
        public var broadcasts: Bool?

        public init(name: String? = nil, checks: PayloadChecks? = nil, broadcasts: Bool? = nil) {
            self.name = name
            self.checks = checks
            self.broadcasts = broadcasts
        }
    }

    /// An app in the responses of `/v1/apps`.
    public struct App: Codable, Sendable {
        public var topic: String
        /// The display name.
        public var name: String
        /// The team that owns the app.
        public var teamID: String
        /// The number of active registrations.
        public var registrationCount: Int
        /// The number of pending notifications.
        public var pendingCount: Int
        /// The mode of the payload checks.
        public var checks: PayloadChecks
        /// Whether the app may have broadcast channels.
        public var broadcasts: Bool
        /// The webhook that reports delivery results to the app's back-end; nil when none is set.
        public var webhook: Webhook?

        public init(
            topic: String, name: String, teamID: String, registrationCount: Int, pendingCount: Int,
            checks: PayloadChecks = .warn, broadcasts: Bool = false, webhook: Webhook? = nil
        ) {
            self.webhook = webhook
            self.topic = topic
            self.name = name
            self.teamID = teamID
            self.checks = checks
            self.broadcasts = broadcasts
            self.registrationCount = registrationCount
            self.pendingCount = pendingCount
        }

        private enum CodingKeys: String, CodingKey {
            case topic, name, checks, broadcasts, webhook
            case teamID = "team_id"
            case registrationCount = "registration_count"
            case pendingCount = "pending_count"
        }
    }

    /// The response of `GET /v1/apps`.
    public struct Apps: Codable, Sendable {
        /// The apps, sorted by topic.
        public var apps: [App]

        public init(apps: [App]) { self.apps = apps }
    }

    /// The body of `POST /v1/keys`.
    public struct NewKey: Codable, Sendable {
        /// The team that owns the key; the server's own team when nil.
        public var teamID: String?
        /// The topics that the key may send to; every topic of the team when nil.
        public var topics: [String]?
        /// The environment that the key is valid for; both when nil.
        public var environment: Environment?

        public init(teamID: String? = nil, topics: [String]? = nil, environment: Environment? = nil) {
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
        /// The key id: ten characters of A-Z and 0-9.
        public var keyID: String
        /// The team id: ten characters of A-Z and 0-9.
        public var teamID: String
        /// The topics that the key may send to; nil for every topic of the team.
        public var topics: [String]?
        /// The time of creation, in UNIX seconds.
        public var createdAt: Int64
        /// The time of revocation, in UNIX seconds; nil while the key is valid.
        public var revokedAt: Int64?
        /// The private key in the format of a .p8 file (PKCS#8 PEM).
        ///
        /// Only the response that creates the key contains it. The server never stores it.
        public var privateKey: String?
        /// The environment that the key is valid for; nil for both.
        public var environment: Environment?

        public init(
            keyID: String, teamID: String, topics: [String]?, createdAt: Int64, revokedAt: Int64? = nil,
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

    /// The response of `POST /v1/enrolment-codes`.
    public struct EnrolmentCode: Codable, Sendable {
        /// The code, which works once.
        public var code: String
        /// The time at which the code expires, in UNIX seconds.
        public var expiresAt: Int64
        /// The URL that devices connect to, for example `https://push.example.org:2197`.
        public var serverURL: String
        /// The file of the authority that a device must trust; nil when the server's certificate is configured.
        public var caFile: String?
        /// The id by which the code can be revoked; nil from an older server.
        public var id: String?

        public init(code: String, expiresAt: Int64, serverURL: String, caFile: String?, id: String? = nil) {
            self.id = id
            self.code = code
            self.expiresAt = expiresAt
            self.serverURL = serverURL
            self.caFile = caFile
        }

        private enum CodingKeys: String, CodingKey {
            case code, id
            case expiresAt = "expires_at"
            case serverURL = "server_url"
            case caFile = "ca_file"
        }
    }

    /// The number of requests that one limit refused.
    public struct Refusal: Codable, Equatable, Sendable {
        /// The kind of peer: `stranger` (unauthenticated), `device` or `provider`.
        public var principal: String
        /// A stable word for the cause, for example `credentials`.
        public var cause: String
        /// The number of refused requests since the server started.
        public var count: Int64

        public init(principal: String, cause: String, count: Int64) {
            self.principal = principal
            self.cause = cause
            self.count = count
        }
    }
}
