// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushNet
package import PushPostgres
package import PushStore

/// The settings of a store in PostgreSQL.
package struct PostgresStoreConfiguration: Sendable {
    /// The servers of the shard with the control data.
    package var address: PostgresAddress
    /// The servers of the shards 1, 2, and so on.
    package var furtherShards: [PostgresAddress] = []
    /// The schema of the tables, which is created if it does not exist.
    package var schema = "posthorn"
    /// The name of this node, unique among the nodes.
    package var node: String
    /// The version of this program.
    package var version: String
    /// The bounds of the store.
    package var store: StoreConfiguration
    /// The time that notifications wait for PostgreSQL until they are refused, in milliseconds.
    package var patienceMilliseconds: Int64 = 10_000
    /// The time after which a connection of a worker without an answer counts as lost.
    var answerTimeout = Duration.seconds(15)
    /// The time after which a node asks PostgreSQL again whether a sweep is due, in milliseconds.
    package var sweepQuestionMilliseconds: Int64 = 60_000
    /// The time after which a node looks again for rows of moved slots in former shards, in milliseconds.
    package var cleanMilliseconds: Int64 = 10_000
    /// The time in which a node compares all streams with PostgreSQL, in milliseconds.
    package var reviewMilliseconds: Int64 = 60_000
    /// The maximum difference between the clocks of the machine and of PostgreSQL at which the node still serves.
    package var clockDifferenceMillisecondsMax = ClockAgreement.suspensionDifferenceMax
    /// The time between two exchanges of counts with the other nodes, in milliseconds.
    package var countsMilliseconds: Int64 = 5_000
    /// The maximum number of routes in memory.
    package var routeCountMax = 1 << 20
    /// The last instance that this machine started with these settings, which no longer runs; nil if it is not known.
    ///
    /// The node takes over its number at once. It takes over the number of any other instance only when the last
    /// heartbeat of that instance is too old.
    package var earlierInstance: InstanceID?
    /// The lock that keeps other processes from starting the same node, held as long as the store exists.
    package var lock: FileLock?
    /// The links to other nodes; nil for a node that uses PostgreSQL alone.
    package var links: LinkConfiguration?
    /// Returns the time of requests; nil for PostgreSQL's time.
    var requestTime: (@Sendable () -> Timestamp)?
    /// Called with the instance of this start.
    package var onRegistered: @Sendable (InstanceID) -> Void = { _ in }
    /// Called on any thread with the problems of PostgreSQL that do not prevent the start.
    package var onFinding: @Sendable (PostgresFinding) -> Void = { _ in }
    /// Called on any thread when the connection to PostgreSQL is lost or cannot be opened, with the reason; nil when it
    /// is open.
    package var onConnection: @Sendable (_ shard: Int, _ reason: String?) -> Void = { _, _ in }

    /// Called on any thread when PostgreSQL did not perform a request of a device or a provider, with the reason.
    package var onFailedRequest: @Sendable (_ reason: String) -> Void = { _ in }
    /// Called on any thread when the lease of a shard has ended, or has begun again.
    package var onLease: @Sendable (_ shard: Int, _ isHeld: Bool) -> Void = { _, _ in }

    /// Called on any thread when the agreement of the clocks of this machine and of PostgreSQL changes, with the
    /// difference in milliseconds.
    package var onClock: @Sendable (ClockAgreement, _ differenceMilliseconds: Int64) -> Void = { _, _ in }

    package init(address: PostgresAddress, node: String, version: String, store: StoreConfiguration) {
        self.address = address
        self.node = node
        self.version = version
        self.store = store
    }

    /// The servers of all shards.
    var addresses: [PostgresAddress] { [address] + furtherShards }
    /// The settings of the sessions.
    var session: PostgresSettings {
        var settings = PostgresSettings(applicationName: "posthornd \(node)", schema: schema)
        settings.answerTimeout = answerTimeout
        return settings
    }
    /// The settings of the session that executes the statements of `HotStatement`.
    var batchSession: PostgresSettings {
        var settings = session
        settings.findsRowsByKey = true
        return settings
    }
}
