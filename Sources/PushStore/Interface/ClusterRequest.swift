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
    /// Describes the keys that the nodes share, after a change of them if one is given; answered by `clusterKeys`.
    case keys(KeyChange?)
}

/// A change of the keys that the nodes of a cluster share.
package enum KeyChange: Sendable {
    /// Makes a new key of device tokens, which seals new tokens once all nodes have read it.
    case rotateTokenKey
    /// Makes a new key of the cluster, which the administrator copies to all nodes.
    case beginClusterKey
    /// Seals all secrets with the new key of the cluster; refused while a live node does not have it.
    case completeClusterKey
    /// Discards the new key of the cluster.
    case cancelClusterKey
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
