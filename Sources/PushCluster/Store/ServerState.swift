// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushPostgres

/// The state of PostgreSQL when it was asked.
struct ServerState: Sendable {
    var facts: PostgresServerFacts
    /// The names of the nodes that had a heartbeat at this server in the last ten seconds.
    var liveNodes: Set<String>
    /// The age of the oldest transaction of any program; nil without one.
    var oldestTransactionSeconds: Int64?
    /// The slots and standbys that keep deleted rows for too long.
    var oldRetentions: [PostgresRowRetention]
    /// The number of waiting notifications, which is estimated if it is large.
    var waitingCount: Int
}

extension ClusterAPI.Shard {
    mutating func set(_ state: ServerState) {
        let facts = state.facts
        version = "\(facts.version / 10_000).\(facts.version % 10_000)"
        server = facts.server
        isPrimary = !facts.isInRecovery
        synchronousStandbyNames = facts.synchronousStandbyNames
        synchronousStandbyCount = facts.synchronousStandbyCount
        asynchronousStandbyCount = facts.asynchronousStandbyCount
        synchronousCommit = facts.synchronousCommit
        usesTLS = facts.usesTLS
        oldestTransactionSeconds = state.oldestTransactionSeconds
        waitingCount = state.waitingCount
    }
}
