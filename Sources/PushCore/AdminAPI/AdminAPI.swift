// SPDX-License-Identifier: Apache-2.0

/// The bodies of the admin API, JSON over a UNIX socket; docs/reference/admin-api.md lists the requests.
public enum AdminAPI {
    /// The body of `POST /v1/apps`.
    public struct NewApp: Codable, Sendable {
        /// The topic, for example `com.example.MyApp`.
        public var topic: String
        /// What people call the app; the topic when nil.
        public var name: String?
        /// The team that owns it; the server's own team when nil.
        public var teamID: String?
        /// How payloads are judged; warn when nil.
        public var checks: PayloadChecks?
        /// Whether channels may be made for it; false when nil.
        public var broadcasts: Bool?

        /// Joins the parts.
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

    /// The body of `PATCH /v1/apps/{topic}`; what is nil stays as it is.
    public struct AppChange: Codable, Sendable {
        /// What people call the app.
        public var name: String?
        /// How payloads are judged.
        public var checks: PayloadChecks?
        /// Whether channels may be made for it; switching it off removes those that are there.
        public var broadcasts: Bool?

        /// Joins the parts.
        public init(name: String? = nil, checks: PayloadChecks? = nil, broadcasts: Bool? = nil) {
            self.name = name
            self.checks = checks
            self.broadcasts = broadcasts
        }
    }

    /// An app, in answers of `/v1/apps`.
    public struct App: Codable, Sendable {
        /// The topic.
        public var topic: String
        /// What people call it.
        public var name: String
        /// The team that owns it.
        public var teamID: String
        /// Registrations that are live.
        public var registrationCount: Int
        /// Notifications that wait.
        public var pendingCount: Int
        /// How payloads are judged.
        public var checks: PayloadChecks
        /// Whether channels may be made for it.
        public var broadcasts: Bool
        /// Where its back-end hears what became of notifications; nil for nowhere.
        public var webhook: Webhook?

        /// Joins the parts.
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

    /// The answer of `GET /v1/apps`.
    public struct Apps: Codable, Sendable {
        /// By topic.
        public var apps: [App]

        /// Takes the list.
        public init(apps: [App]) { self.apps = apps }
    }

    /// The body of `POST /v1/keys`.
    public struct NewKey: Codable, Sendable {
        /// The team; the server's own when nil.
        public var teamID: String?
        /// Topics that the key may send to; every topic of the team when nil.
        public var topics: [String]?
        /// The environment that the key is for; both when nil.
        public var environment: Environment?

        /// Joins the parts.
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

    /// A signing key, in answers of `/v1/keys`.
    public struct Key: Codable, Sendable {
        /// Ten characters A-Z and 0-9.
        public var keyID: String
        /// Ten characters A-Z and 0-9.
        public var teamID: String
        /// Topics that the key may send to; nil for every topic of the team.
        public var topics: [String]?
        /// When it was made, UNIX seconds.
        public var createdAt: Int64
        /// When it was revoked, UNIX seconds; nil while it is good.
        public var revokedAt: Int64?
        /// The private key as a .p8 file holds it (PKCS#8 PEM); only in the answer that made it, never kept.
        public var privateKey: String?
        /// The environment that the key is for; nil for both.
        public var environment: Environment?

        /// Joins the parts.
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

    /// The answer of `GET /v1/keys`.
    public struct Keys: Codable, Sendable {
        /// Oldest first.
        public var keys: [Key]

        /// Takes the list.
        public init(keys: [Key]) { self.keys = keys }
    }

    /// The answer of `POST /v1/enrolment-codes`.
    public struct EnrolmentCode: Codable, Sendable {
        /// The code, good once.
        public var code: String
        /// Until when, UNIX seconds.
        public var expiresAt: Int64
        /// Where devices connect, for example `https://push.example.org:2197`.
        public var serverURL: String
        /// The authority that a device must trust; nil where the certificate was configured.
        public var caFile: String?

        /// Joins the parts.
        public init(code: String, expiresAt: Int64, serverURL: String, caFile: String?) {
            self.code = code
            self.expiresAt = expiresAt
            self.serverURL = serverURL
            self.caFile = caFile
        }

        private enum CodingKeys: String, CodingKey {
            case code
            case expiresAt = "expires_at"
            case serverURL = "server_url"
            case caFile = "ca_file"
        }
    }

    /// A device, in answers of `/v1/devices`.
    public struct Device: Codable, Sendable {
        /// Sixteen hexadecimal digits.
        public var deviceID: String
        /// What people call the machine.
        public var name: String
        /// For example `linux`.
        public var platform: String
        /// When it enrolled, UNIX seconds.
        public var enrolledAt: Int64
        /// Whether its stream is open now.
        public var connected: Bool
        /// Topics registered on it.
        public var topics: [String]
        /// Notifications that wait for it.
        public var pendingCount: Int
        /// When it was last connected or asked for something, UNIX seconds, to about an hour; nil when nobody knows.
        public var seenAt: Int64?

        /// Joins the parts.
        public init(
            deviceID: String, name: String, platform: String, enrolledAt: Int64, connected: Bool, topics: [String],
            pendingCount: Int, seenAt: Int64? = nil
        ) {
            self.deviceID = deviceID
            self.name = name
            self.platform = platform
            self.enrolledAt = enrolledAt
            self.connected = connected
            self.topics = topics
            self.pendingCount = pendingCount
            self.seenAt = seenAt
        }

        private enum CodingKeys: String, CodingKey {
            case name, platform, connected, topics
            case seenAt = "seen_at"
            case deviceID = "device_id"
            case enrolledAt = "enrolled_at"
            case pendingCount = "pending_count"
        }
    }

    /// The answer of `GET /v1/devices`.
    public struct Devices: Codable, Sendable {
        /// Oldest first.
        public var devices: [Device]

        /// Takes the list.
        public init(devices: [Device]) { self.devices = devices }
    }

    /// The answer of `GET /v1/status`.
    public struct Status: Codable, Sendable {
        /// The server's version.
        public var version: String
        /// The process id.
        public var processID: Int32
        /// When it started, UNIX seconds.
        public var startedAt: Int64
        /// Where providers and devices connect.
        public var serverURL: String
        /// The data directory.
        public var dataDirectory: String
        /// The server's own team.
        public var teamID: String
        /// What the store counts.
        public var counts: Counts
        /// PEM file of the authority that providers must trust; nil where the server's certificate is configured.
        public var caFile: String?
        /// Since when the disk is full, UNIX seconds: what must be stored is refused; nil while there is space.
        public var diskFullSince: Int64?

        /// Joins the parts.
        public init(
            version: String, processID: Int32, startedAt: Int64, serverURL: String, dataDirectory: String,
            teamID: String, counts: Counts, caFile: String? = nil, diskFullSince: Int64? = nil
        ) {
            self.diskFullSince = diskFullSince
            self.version = version
            self.processID = processID
            self.startedAt = startedAt
            self.serverURL = serverURL
            self.dataDirectory = dataDirectory
            self.teamID = teamID
            self.counts = counts
            self.caFile = caFile
        }

        private enum CodingKeys: String, CodingKey {
            case version, counts
            case caFile = "ca_file"
            case diskFullSince = "disk_full_since"
            case processID = "process_id"
            case startedAt = "started_at"
            case serverURL = "server_url"
            case dataDirectory = "data_directory"
            case teamID = "team_id"
        }
    }

    /// Numbers of the store; those of notifications count since the server started.
    public struct Counts: Codable, Sendable {
        /// Apps.
        public var apps = 0
        /// Devices that are enrolled.
        public var devices = 0
        /// Devices whose stream is open.
        public var devicesConnected = 0
        /// Live registrations.
        public var registrations = 0
        /// Notifications that wait.
        public var pending = 0
        /// Notifications answered with 200.
        public var accepted = 0
        /// Notifications that a device acknowledged.
        public var acknowledged = 0
        /// Pending ones that a newer one with the same collapse id replaced.
        public var collapsed = 0
        /// Pending ones that expired, or that were now-or-never and found no device.
        public var expired = 0
        /// Pending ones dropped because the bound of (device, topic) was reached, or because the device refuses the topic.
        public var dropped = 0
        /// Pending ones dropped because their app or device was removed or unregistered.
        public var unregistered = 0
        /// Outcomes that devices reported, by name.
        public var outcomes: [String: Int] = [:]

        /// All zero.
        public init() {}

        private enum CodingKeys: String, CodingKey {
            case apps, devices, registrations, pending, accepted, acknowledged, collapsed, expired, dropped,
                unregistered, outcomes
            case devicesConnected = "devices_connected"
        }
    }
}
