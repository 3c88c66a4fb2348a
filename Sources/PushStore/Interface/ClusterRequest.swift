// SPDX-License-Identifier: Apache-2.0

/// A request about the nodes of a cluster, which a store with one node refuses.
package enum ClusterRequest: Sendable {
    /// Describes the nodes and PostgreSQL; answered by `cluster`.
    case status
    /// Changes a node; answered by `done` when PostgreSQL has the change.
    case change(NodeChange)
}

/// A change of one node of a cluster, by its name.
package enum NodeChange: Sendable {
    /// Lets a node send its devices away, or take devices again.
    case setDraining(node: String, Bool)
}
