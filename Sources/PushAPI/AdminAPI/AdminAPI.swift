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

    /// A device in the responses of `/v1/devices`.
    public struct Device: Codable, Sendable {
        /// The device id: sixteen hexadecimal digits.
        public var deviceID: String
        /// The machine's display name.
        public var name: String
        /// The platform, for example `linux`.
        public var platform: String
        /// The time of enrolment, in UNIX seconds.
        public var enrolledAt: Int64
        /// Whether the device's stream is open now.
        public var connected: Bool
        /// The topics that are registered on the device.
        public var topics: [String]
        /// The number of notifications that wait for the device.
        public var pendingCount: Int
        /// The time of the last connection or request, in UNIX seconds, accurate to about an hour; nil when unknown.
        public var seenAt: Int64?

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

    /// The response of `GET /v1/devices`.
    public struct Devices: Codable, Sendable {
        /// The devices, oldest first.
        public var devices: [Device]
        /// The device id after which the next page starts; nil on the last page.
        public var next: String?

        public init(devices: [Device], next: String? = nil) {
            self.devices = devices
            self.next = next
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

    /// The response of `GET /v1/status`.
    public struct Status: Codable, Sendable {
        public var version: String
        public var processID: Int32
        /// The time at which the server started, in UNIX seconds.
        public var startedAt: Int64
        /// The URL that providers and devices connect to.
        public var serverURL: String
        public var dataDirectory: String
        /// The server's own team.
        public var teamID: String
        /// The counters of the store.
        public var counts: Counts
        /// The PEM file of the authority that providers must trust; nil when the server's certificate is configured.
        public var caFile: String?
        /// The time since which the disk is full, in UNIX seconds; nil while there is space.
        ///
        /// While the disk is full, the server refuses requests that need storage.
        public var diskFullSince: Int64?
        /// The refusals by limits since the server started, by principal and cause; nil from a server without these
        /// counters.
        public var refusals: [Refusal]?
        /// The connections of providers and devices; nil from an older server.
        public var connections: Connections?
        /// The memory that these connections hold; nil from an older server.
        public var memory: Memory?

        public init(
            version: String, processID: Int32, startedAt: Int64, serverURL: String, dataDirectory: String,
            teamID: String, counts: Counts, caFile: String? = nil, diskFullSince: Int64? = nil,
            refusals: [Refusal]? = nil, connections: Connections? = nil, memory: Memory? = nil
        ) {
            self.refusals = refusals
            self.diskFullSince = diskFullSince
            (self.connections, self.memory) = (connections, memory)
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
            case version, counts, refusals, connections, memory
            case caFile = "ca_file"
            case diskFullSince = "disk_full_since"
            case processID = "process_id"
            case startedAt = "started_at"
            case serverURL = "server_url"
            case dataDirectory = "data_directory"
            case teamID = "team_id"
        }
    }

    /// The connections of the network ports; `shed` and `overLimit` count since the server started.
    public struct Connections: Codable, Sendable {
        /// The number of connections that have not authenticated.
        public var strangers: Int
        /// The number of connections that authenticated with a device secret.
        public var devices: Int
        /// The number of connections that authenticated with a provider's credential.
        public var providers: Int
        /// The maximum number of connections.
        public var limit: Int
        /// The number of idle unauthenticated connections that were closed to free capacity.
        public var shed: Int
        /// The number of connections that arrived while a limit was reached.
        public var overLimit: Int

        public init(strangers: Int, devices: Int, providers: Int, limit: Int, shed: Int, overLimit: Int) {
            self.strangers = strangers
            self.devices = devices
            self.providers = providers
            self.limit = limit
            self.shed = shed
            self.overLimit = overLimit
        }

        private enum CodingKeys: String, CodingKey {
            case strangers, devices, providers, limit, shed
            case overLimit = "over_limit"
        }
    }

    /// The memory that connections hold for requests and responses.
    public struct Memory: Codable, Sendable {
        /// The bytes that connections hold now.
        public var heldBytes: Int
        /// The maximum number of bytes that connections may hold.
        public var budgetBytes: Int
        /// The number of times that a memory budget paused a connection since the server started.
        public var heldBack: Int

        public init(heldBytes: Int, budgetBytes: Int, heldBack: Int) {
            (self.heldBytes, self.budgetBytes, self.heldBack) = (heldBytes, budgetBytes, heldBack)
        }

        private enum CodingKeys: String, CodingKey {
            case heldBytes = "held_bytes"
            case budgetBytes = "budget_bytes"
            case heldBack = "held_back"
        }
    }

    /// The counters of the store; notification counters start at zero when the server starts.
    public struct Counts: Codable, Sendable {
        public var apps = 0
        /// The number of enrolled devices.
        public var devices = 0
        /// The number of devices whose stream is open.
        public var devicesConnected = 0
        /// The number of active registrations.
        public var registrations = 0
        /// The number of notifications that wait for a device.
        public var pending = 0
        /// The number of notifications answered with 200.
        public var accepted = 0
        /// The number of notifications that a device acknowledged.
        public var acknowledged = 0
        /// The number of pending notifications replaced by a newer one with the same collapse id.
        public var collapsed = 0
        /// The number of pending notifications that expired, or that had expiration 0 and found no connected device.
        public var expired = 0
        /// The number of pending notifications dropped at the limit of (device, topic) or because the device refuses
        /// the topic.
        public var dropped = 0
        /// The number of pending notifications dropped because their app or device was removed or unregistered.
        public var unregistered = 0
        /// The number of outcomes that devices reported, by outcome name.
        public var outcomes: [String: Int] = [:]
        /// The number of ignored acknowledgements.
        ///
        /// An acknowledgement is ignored when its notification was not sent to the device, or when the device has
        /// already reported that outcome.
        public var glitches = 0

        /// Sets all counters to zero.
        public init() {}

        private enum CodingKeys: String, CodingKey {
            case apps, devices, registrations, pending, accepted, acknowledged, collapsed, expired, dropped,
                unregistered, outcomes, glitches
            case devicesConnected = "devices_connected"
        }
    }
}
