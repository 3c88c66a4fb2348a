// SPDX-License-Identifier: Apache-2.0

/// The admin API's description of a cluster.
public enum ClusterAPI {
    /// The response of `GET /v1/cluster`: the nodes and PostgreSQL, as one node sees them.
    public struct Status: Codable, Sendable {
        /// The name of the node that answers.
        public var node: String
        /// The nodes by number.
        public var nodes: [Node]
        /// The databases; the first one has the control data.
        public var shards: [Shard]
        /// The problems, also those that become visible only with the next loss of a machine; empty if all is well.
        public var problems: [Problem]

        public init(node: String, nodes: [Node], shards: [Shard], problems: [Problem]) {
            self.node = node
            self.nodes = nodes
            self.shards = shards
            self.problems = problems
        }
    }

    /// A node of a cluster.
    public struct Node: Codable, Sendable {
        /// Whether a node takes devices.
        public enum Draining: String, Codable, Sendable {
            /// The node takes devices.
            case no
            /// The node sends its devices away.
            case draining
            /// No device is left.
            case drained
        }

        public var name: String
        public var number: Int
        /// The number of the node's last start, in hexadecimal digits.
        public var instance: String
        /// The version of posthornd.
        public var version: String
        /// The address for links; nil without links.
        public var address: String?
        /// Whether the last heartbeat is less than three seconds old.
        public var isLive: Bool
        /// The time since the last heartbeat in milliseconds.
        public var heartbeatAgeMilliseconds: Int64
        public var draining: Draining
        /// Whether the link of the answering node to this one is up; nil for the answering node itself.
        public var isLinkUp: Bool?
        /// The rest of the lease in milliseconds, 0 without one; nil for other nodes than the answering one.
        public var leaseMilliseconds: Int64?
        /// The time by which the node's clock is ahead of PostgreSQL's, in milliseconds; nil if it is not known.
        public var clockDifferenceMilliseconds: Int64?
        /// Whether PostgreSQL commits what the node writes; nil without a link to the node.
        public var commits: Bool?
        /// The number of connected devices; nil without a link to the node.
        public var deviceCount: Int?

        public init(
            name: String, number: Int, instance: String, version: String, address: String?, isLive: Bool,
            heartbeatAgeMilliseconds: Int64, draining: Draining, isLinkUp: Bool? = nil,
            leaseMilliseconds: Int64? = nil, clockDifferenceMilliseconds: Int64? = nil, commits: Bool? = nil,
            deviceCount: Int? = nil
        ) {
            self.name = name
            self.number = number
            self.instance = instance
            self.version = version
            self.address = address
            self.isLive = isLive
            self.heartbeatAgeMilliseconds = heartbeatAgeMilliseconds
            self.draining = draining
            self.isLinkUp = isLinkUp
            self.leaseMilliseconds = leaseMilliseconds
            self.clockDifferenceMilliseconds = clockDifferenceMilliseconds
            self.commits = commits
            self.deviceCount = deviceCount
        }

        private enum CodingKeys: String, CodingKey {
            case name, number, instance, version, address, draining, commits
            case deviceCount = "devices"
            case isLive = "live"
            case heartbeatAgeMilliseconds = "heartbeat_age_ms"
            case isLinkUp = "link_up"
            case leaseMilliseconds = "lease_ms"
            case clockDifferenceMilliseconds = "clock_difference_ms"
        }
    }

    /// A database as a node of a cluster sees it.
    ///
    /// The properties of the server are nil while the node cannot ask it.
    public struct Shard: Codable, Sendable {
        public var number: Int
        /// The number of slots, of 1,024, whose devices are in the database.
        public var slotCount: Int
        /// Whether the answering node is connected.
        public var isConnected: Bool
        /// The names of the live nodes that do not use the database; also empty if PostgreSQL does not answer.
        public var absentNodes: [String] = []
        /// The version, for example `15.18`.
        public var version: String?
        /// The host or socket directory and the port of the server, for example `db1.internal:5432`.
        public var server: String?
        /// Whether the server accepts writes.
        public var isPrimary: Bool?
        /// The value of `synchronous_standby_names`.
        public var synchronousStandbyNames: String?
        /// The number of connected synchronous standbys; nil also if the role may not see it.
        public var synchronousStandbyCount: Int?
        /// The number of other connected standbys; nil also if the role may not see it.
        public var asynchronousStandbyCount: Int?
        /// The value of `synchronous_commit`.
        public var synchronousCommit: String?
        /// Whether TLS protects the connection.
        public var usesTLS: Bool?
        /// The age of the oldest transaction in seconds; nil without a transaction, or if the age is not known.
        public var oldestTransactionSeconds: Int64?
        /// The number of waiting notifications in the database, which is estimated if it is large.
        public var waitingCount: Int?
        /// The number of notifications that the answering node wrote in the last minute.
        public var writtenPerMinute: Int?
        /// The median time of these writes in milliseconds; nil without writes.
        public var commitP50Milliseconds: Int64?
        /// The time within which 99 % of these writes ended, in milliseconds; nil without writes.
        public var commitP99Milliseconds: Int64?

        public init(number: Int, slotCount: Int, isConnected: Bool) {
            self.number = number
            self.slotCount = slotCount
            self.isConnected = isConnected
        }

        private enum CodingKeys: String, CodingKey {
            case number, version, server
            case slotCount = "slots"
            case absentNodes = "absent_nodes"
            case isConnected = "connected"
            case isPrimary = "primary"
            case synchronousStandbyNames = "synchronous_standby_names"
            case synchronousStandbyCount = "synchronous_standbys"
            case asynchronousStandbyCount = "asynchronous_standbys"
            case synchronousCommit = "synchronous_commit"
            case usesTLS = "tls"
            case oldestTransactionSeconds = "oldest_transaction_seconds"
            case waitingCount = "waiting"
            case writtenPerMinute = "written_per_minute"
            case commitP50Milliseconds = "commit_p50_ms"
            case commitP99Milliseconds = "commit_p99_ms"
        }
    }

    /// A problem of a cluster.
    public struct Problem: Codable, Sendable {
        /// A word for scripts, which never changes; a newer server may have more than `ProblemCode`.
        public var code: String
        /// The problem and the action that it requires.
        public var text: String

        public init(code: ProblemCode, text: String) {
            self.code = code.rawValue
            self.text = text
        }
    }

    /// The body of `POST /v1/cluster/moves`.
    public struct SlotMove: Codable, Sendable {
        /// The shard that gets slots.
        public var shard: Int
        /// The number of slots.
        public var count: Int

        public init(shard: Int, count: Int) {
            self.shard = shard
            self.count = count
        }
    }

    /// The body of `PATCH /v1/cluster/nodes/NAME`.
    public struct NodeChange: Codable, Sendable {
        /// Whether the node sends its devices away.
        public var isDraining: Bool

        public init(isDraining: Bool) { self.isDraining = isDraining }

        private enum CodingKeys: String, CodingKey {
            case isDraining = "draining"
        }
    }

    /// The keys that the nodes of a cluster share: the response of `GET` and `POST /v1/cluster/keys`.
    public struct Keys: Codable, Sendable {
        /// A node without the new key of the cluster.
        public struct Node: Codable, Sendable {
            public var name: String
            /// Whether it had a heartbeat in the last ten seconds.
            public var isLive: Bool

            public init(name: String, isLive: Bool) {
                self.name = name
                self.isLive = isLive
            }

            private enum CodingKeys: String, CodingKey {
                case name
                case isLive = "live"
            }
        }

        /// The number of keys of device tokens, without one that is not used yet.
        public var tokenKeyCount: Int
        /// Whether a new key of device tokens is not used yet, because a node has not read it.
        public var isTokenKeyWaiting: Bool
        /// Whether a new key of the cluster was made and is not used yet.
        public var isClusterKeyWaiting: Bool
        /// The live nodes that have not read the last change.
        public var behind: [String]
        /// The nodes that do not have the new key of the cluster; empty unless one was made.
        public var withoutNextKey: [Node]
        /// The file with the key of the cluster at the answering node.
        public var keyFile: String
        /// The file with the new key of the cluster at the answering node.
        public var nextKeyFile: String

        public init(
            tokenKeyCount: Int, isTokenKeyWaiting: Bool, isClusterKeyWaiting: Bool, behind: [String],
            withoutNextKey: [Node], keyFile: String, nextKeyFile: String
        ) {
            self.tokenKeyCount = tokenKeyCount
            self.isTokenKeyWaiting = isTokenKeyWaiting
            self.isClusterKeyWaiting = isClusterKeyWaiting
            self.behind = behind
            self.withoutNextKey = withoutNextKey
            self.keyFile = keyFile
            self.nextKeyFile = nextKeyFile
        }

        private enum CodingKeys: String, CodingKey {
            case behind
            case tokenKeyCount = "token_keys"
            case isTokenKeyWaiting = "token_key_waiting"
            case isClusterKeyWaiting = "cluster_key_waiting"
            case withoutNextKey = "without_next_key"
            case keyFile = "key_file"
            case nextKeyFile = "next_key_file"
        }
    }

    /// The body of `POST /v1/cluster/keys`.
    public struct KeyChange: Codable, Sendable {
        /// A change of the keys.
        public enum Action: String, CaseIterable, Codable, Sendable {
            /// Makes a new key of device tokens.
            case rotateTokenKey = "rotate-token-key"
            /// Makes a new key of the cluster.
            case rotateClusterKey = "rotate-cluster-key"
            /// Uses the new key of the cluster.
            case completeClusterKey = "complete-cluster-key"
            /// Discards the new key of the cluster.
            case cancelClusterKey = "cancel-cluster-key"
        }

        public var action: Action

        public init(action: Action) { self.action = action }
    }
}
