// SPDX-License-Identifier: Apache-2.0

public import PushCore

extension AdminAPI {
    /// The response of `GET /v1/status`.
    public struct Status: Codable, Sendable {
        public var version: String
        public var processID: Int32
        /// The time at which the server started.
        public var startedAt: Timestamp
        /// The URL that providers and devices connect to.
        public var serverURL: String
        public var dataDirectory: String
        /// The server's own team.
        public var teamID: String
        /// The counters of the store.
        public var counts: Counts
        /// The PEM file of the authority that providers must trust; nil if the server's certificate is configured.
        public var caFile: String?
        /// The time since which the disk is full; nil while there is space.
        ///
        /// While the disk is full, the server refuses requests that need storage.
        public var diskFullSince: Timestamp?
        /// The refusals by limits since the server started, by principal and cause; nil from a server without these
        /// counters.
        public var refusals: [Refusal]?
        /// The connections of providers and devices; nil from an older server.
        public var connections: Connections?
        /// The memory that these connections hold; nil from an older server.
        public var memory: Memory?
        /// The number of devices that do not trust the server's present certificate; nil from an older server.
        public var cutOffDevices: Int?
        /// The time at which the server's certificate expires; nil if it cannot be read.
        public var certificateExpiresAt: Timestamp?

        public init(
            version: String, processID: Int32, startedAt: Timestamp, serverURL: String, dataDirectory: String,
            teamID: String, counts: Counts, caFile: String? = nil, diskFullSince: Timestamp? = nil,
            refusals: [Refusal]? = nil, connections: Connections? = nil, memory: Memory? = nil,
            cutOffDevices: Int? = nil, certificateExpiresAt: Timestamp? = nil
        ) {
            self.certificateExpiresAt = certificateExpiresAt
            self.cutOffDevices = cutOffDevices
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
            case certificateExpiresAt = "certificate_expires_at"
            case cutOffDevices = "cut_off_devices"
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
        /// The number of links of other nodes of the cluster; nil from an older server.
        public var nodes: Int?
        /// The maximum number of connections.
        public var limit: Int
        /// The number of idle unauthenticated connections that were closed to free capacity.
        public var shed: Int
        /// The number of connections that arrived while a limit was reached.
        public var overLimit: Int

        public init(
            strangers: Int, devices: Int, providers: Int, nodes: Int? = nil, limit: Int, shed: Int, overLimit: Int
        ) {
            self.strangers = strangers
            self.devices = devices
            self.providers = providers
            self.nodes = nodes
            self.limit = limit
            self.shed = shed
            self.overLimit = overLimit
        }

        private enum CodingKeys: String, CodingKey {
            case strangers, devices, providers, nodes, limit, shed
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

    /// The counters of the store; those of notifications start at zero when the server starts, or the first node.
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
        /// The number of pending notifications replaced by a newer one with the same collapse ID.
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
        /// Whether the counters of notifications include all nodes, also in the past; nil for a store in SQLite.
        public var includesAllNodes: Bool?

        /// Sets all counters to zero.
        public init() {}

        private enum CodingKeys: String, CodingKey {
            case apps, devices, registrations, pending, accepted, acknowledged, collapsed, expired, dropped,
                unregistered, outcomes, glitches
            case devicesConnected = "devices_connected"
            case includesAllNodes = "all_nodes"
        }
    }
}
