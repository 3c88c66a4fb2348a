// SPDX-License-Identifier: Apache-2.0

/// A request about the nodes of a cluster, which a store with one node refuses.
package enum ClusterRequest: Sendable {
    /// Describes the nodes and PostgreSQL; answered by `cluster`.
    case status
    /// Changes a node; answered by `done` when PostgreSQL has the change.
    case change(NodeChange)
    /// Moves slots to a shard; answered by `done` when all nodes use the new assignment.
    case moveSlots(to: Int, count: Int)
    /// Ends an upgrade of the tables; answered by `done`, or refused with `oldNode` while a node needs the former ones.
    case finishUpgrade
}

/// A change of one node of a cluster, by its name.
package enum NodeChange: Sendable {
    /// Lets a node send its devices away, or take devices again.
    case setDraining(node: String, Bool)
    /// Removes a node that does not run, and frees its number; refused with `nodeIsLive` otherwise.
    case remove(node: String)

    /// The time without a heartbeat after which a node can be removed, in seconds.
    ///
    /// All numbers that the node has made are below the time of PostgreSQL by then, so another node can get its number.
    package static let silenceSeconds: Int64 = 10
}
